#pragma once
// The files of configs/models as they were when the program was built.
#include <span>
#include <string_view>

namespace cpplan::model {

/// An array of {name, also, source, config}: see configs/README.md.
struct ModelFile {
  std::string_view name, json;
};

/// Defined in a file that CMake generates.
std::span<const ModelFile> model_files();

}  // namespace cpplan::model
