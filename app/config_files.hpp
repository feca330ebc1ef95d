#pragma once
// Which config files a path of the command line stands for.
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cpplan::app {

/// A file and "-" stand for themselves, a folder for all .yaml and .yml files below it in sorted
/// order, hidden ones passed over. Errors: unreadable folder, none below it.
Result<std::vector<std::string>> config_files(const std::string& path);

}  // namespace cpplan::app
