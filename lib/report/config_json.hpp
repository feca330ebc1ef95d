#pragma once
// What the config says, as it takes effect, and which file, flag or default says so.
#include <string>
#include <vector>

#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// A setting, its value in effect, and where that is from: "train.yaml:7", "--set", "default".
struct Origin {
  std::string name, value, from;
};

/// Of the settings that decide world, batch, steps and learning rate.
std::vector<Origin> origins(const plan::Plan& plan);

/// {file, dialect, values in effect, ..., origins: [{name, value, from}]}
Json config_json(const plan::Plan& plan);

}  // namespace cpplan::report
