#pragma once
// The front door: config files, or their text, to a TrainingConfig and every finding about its
// syntax, keys and types.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "config/overrides.hpp"
#include "config/training_config.hpp"
#include "diag/source_file.hpp"

namespace cpplan::config {

struct LoadedConfig {
  std::optional<TrainingConfig> config;  // whenever the top level is a mapping, findings or not
  diag::SourceFile source;
  std::vector<diag::SourceFile> overlays;  // in the order in which they were put on top
  diag::Diagnostics diagnostics;           // sorted by place
};

/// A file by name and content.
struct ConfigText {
  std::string name, text;
};

/// What stands on top of a file: later files win over earlier ones, overrides over all files.
struct LoadOptions {
  std::vector<std::string> overlays;  // paths
  std::vector<Override> overrides;    // a bad one is a finding in the file "--set", without a line
  std::optional<Dialect> dialect;     // else the keys tell
};

/// The same of text that is there: `overlays` in place of options.overlays.
LoadedConfig load_config_texts(ConfigText text, std::vector<ConfigText> overlays,
                               const LoadOptions& options = {});
LoadedConfig load_config_text(std::string name, std::string text,
                              std::span<const Override> overrides = {});

/// "-" is standard input. Error: a file cannot be read.
Result<LoadedConfig> load_config(const std::string& path, const LoadOptions& options);
Result<LoadedConfig> load_config(const std::string& path, std::span<const Override> overrides = {});

}  // namespace cpplan::config
