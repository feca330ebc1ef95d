#pragma once
// One value of a plan document, for shell scripts.
#include <string>
#include <string_view>

#include "base/json.hpp"
#include "base/result.hpp"

namespace cpplan::report {

/// The value at a dotted path ("layout.tp_groups.0"), else the one member of that name anywhere in
/// the document ("batch_size"). Errors: no such name (with near ones), or several (with the paths).
Result<Json> find_value(const Json& document, std::string_view path);

/// Text as it is, other scalars as JSON prints them, null as nothing; lists and objects as JSON on
/// one line.
std::string value_text(const Json& value);

}  // namespace cpplan::report
