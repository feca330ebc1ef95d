#pragma once
// The front door: a config file, or its text, to a TrainingConfig and every finding about its
// syntax, keys and types.
#include <optional>
#include <span>
#include <string>

#include "base/result.hpp"
#include "config/overrides.hpp"
#include "config/training_config.hpp"
#include "diag/source_file.hpp"

namespace cpplan::config {

struct LoadedConfig {
  std::optional<TrainingConfig> config;  // whenever the top level is a mapping, findings or not
  diag::SourceFile source;
  diag::Diagnostics diagnostics;  // sorted by place
};

/// Overrides apply after the text; a bad one is a finding in the file "--set", without a line.
LoadedConfig load_config_text(std::string name, std::string text,
                              std::span<const Override> overrides = {});

/// "-" is standard input. Error: the file cannot be read.
Result<LoadedConfig> load_config(const std::string& path, std::span<const Override> overrides = {});

}  // namespace cpplan::config
