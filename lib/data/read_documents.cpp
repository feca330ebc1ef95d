#include <fmt/format.h>

#include <algorithm>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "data/text_files.hpp"

namespace cpplan::data {
namespace {

void append_strings(const Json& value, std::vector<std::string>& strings) {
  if (value.is_string()) strings.push_back(value.as_string());
  if (value.is_array())
    for (const Json& element : value.elements()) append_strings(element, strings);
  if (value.is_object())
    for (const auto& [key, member] : value.members()) append_strings(member, strings);
}

std::string document_of(const Json& record) {
  if (record.is_object())
    if (const Json* text = record.find("text"); text && text->is_string()) return text->as_string();
  std::vector<std::string> strings;
  append_strings(record, strings);
  return join(strings, "\n");
}

Result<std::vector<std::string>> documents_of_lines(std::string_view content,
                                                    const std::string& file) {
  std::vector<std::string> documents;
  for (Index line = 1; !content.empty(); ++line) {
    const std::size_t end = std::min(content.find('\n'), content.size());
    const std::string_view record = content.substr(0, end);
    content.remove_prefix(std::min(end + 1, content.size()));
    if (trimmed(record).empty()) continue;
    const auto json = Json::parse(record);
    if (!json)
      return failure(fmt::format(
          "{}:{}: the line is not JSON ({}). each line of a .jsonl file is one JSON value", file,
          line, json.error().message));
    documents.push_back(document_of(*json));
  }
  return documents;
}

}  // namespace

Result<std::vector<std::string>> read_documents(const std::filesystem::path& file) {
  auto content = read_file(file);
  if (!content) return tl::unexpected(content.error());
  if (lower_case(file.extension().string()) == ".jsonl")
    return documents_of_lines(*content, file.string());
  return std::vector{std::move(*content)};
}

}  // namespace cpplan::data
