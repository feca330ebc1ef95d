#pragma once
// Whole files in and out. A file that we write is there complete or not at all.
#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace cpplan {

/// "cannot read x (no such file or directory)", of an errno.
tl::unexpected<Error> system_failure(std::string_view verb, const std::filesystem::path& path,
                                     int error);

/// Makes what was created, renamed or removed in a folder durable. Some file systems cannot sync a
/// folder: no failure.
void sync_folder(const std::filesystem::path& folder);

/// All bytes of a regular file or pipe. Error: "cannot read x (why)".
Result<std::string> read_file(const std::filesystem::path& path);

/// All bytes of standard input.
Result<std::string> read_standard_input();

/// Writes a temporary file beside `path`, syncs it to disk and renames it: a reader or a crash sees
/// the old content or the new one. Error: "cannot write x (why)"; nothing is left behind.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view content);

}  // namespace cpplan
