#pragma once
// One file on top of another.
#include "config/document.hpp"

namespace cpplan::config {

/// `base` with the members of `over` put in, mapping by mapping; of anything else, lists included,
/// the later value takes the place of the earlier one. Nodes of both are shared, new ones belong to
/// `owner`. Contract: both roots are mappings.
const Node* merged(const Node& base, const Node& over, Document& owner);

}  // namespace cpplan::config
