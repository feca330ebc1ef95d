#pragma once
// Findings about the value of one known key: null, type, choice.
#include <string>

#include "config/document.hpp"
#include "config/schema.hpp"

namespace cpplan::config {

/// CP104 to CP112, CP117, CP123. `key` is what messages call the member.
void check_value(const KeyInfo&, const std::string& key, const Member&,
                 diag::Diagnostics& findings);

/// CP111: a text that YAML 1.1 reads as a date.
void check_date(const std::string& key, const Member&, diag::Diagnostics& findings);

/// Where to point for a value: at its key where it is empty and has no width.
diag::Span place_of(const Member&);

}  // namespace cpplan::config
