#pragma once
// Which files below a path hold text, and the documents in them.
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace cpplan::data {

/// The path itself if it is a file, else the text files below the folder (by extension) in the
/// order of their paths; hidden files and folders and folders named build are passed over.
/// Errors: no such path, unreadable folder, no text file below it.
Result<std::vector<std::filesystem::path>> text_files(const std::filesystem::path& path);

/// Documents of one file: of .jsonl a document a line that is not blank (its "text" member, or all
/// strings of the record joined by newlines), of any other file one with all bytes.
/// Errors: unreadable; a line that is not JSON, by file and line.
Result<std::vector<std::string>> read_documents(const std::filesystem::path& file);

}  // namespace cpplan::data
