#pragma once
// Whether every byte of a checkpoint is the one that was written.
#include <filesystem>
#include <string>
#include <vector>

#include "checkpoint/manifest.hpp"

namespace cpplan::checkpoint {

/// One of `count` workers that share the work; each looks at other files and slices.
struct Share {
  int number = 0, count = 1;
};

/// What is damaged, one line each, naming file, tensor and rows; empty: nothing in this share.
std::vector<std::string> damage_in(const std::filesystem::path& step_folder, const Manifest&,
                                   Share share = {});

}  // namespace cpplan::checkpoint
