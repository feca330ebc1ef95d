#pragma once
// The .expect file of a worked case: flat "key: value" lines.
#include <map>
#include <optional>
#include <sstream>
#include <string>

#include "base/files.hpp"
#include "base/units.hpp"

namespace cpplan::test {

using Facts = std::map<std::string, std::string>;

inline Facts read_facts(const std::string& file) {
  Facts facts;
  std::istringstream lines(read_file(file).value());
  for (std::string line; std::getline(lines, line);) {
    const auto colon = line.find(": ");
    if (colon != std::string::npos) facts[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return facts;
}

inline std::optional<Index> number(const Facts& facts, const std::string& key) {
  const auto found = facts.find(key);
  return found == facts.end() ? std::nullopt : std::optional<Index>(std::stoll(found->second));
}

}  // namespace cpplan::test
