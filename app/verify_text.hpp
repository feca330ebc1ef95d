#pragma once
// A verification as people and programs read it.
#include <string>

#include "app/prepared_run.hpp"
#include "base/json.hpp"
#include "train/verify.hpp"

namespace cpplan::app {

std::string verify_text(const train::Verification& verification, const PreparedRun& prepared);
/// schema "cpplan/verify/1".
Json verify_json(const train::Verification& verification, const PreparedRun& prepared);

}  // namespace cpplan::app
