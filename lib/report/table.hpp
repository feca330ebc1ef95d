#pragma once
// Columns that line up, for reports that people read.
#include <string>
#include <vector>

namespace cpplan::report {

enum class Align { left, right };

struct Column {
  std::string title;
  Align align = Align::left;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns);
  /// Contract: one cell a column.
  void add(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// A line of titles, unless all are empty, and a line a row; each indented by two spaces, columns
  /// two spaces apart, no space at the end of a line.
  std::string text() const;

 private:
  std::string line(const std::vector<std::string>& cells) const;

  std::vector<Column> columns_;
  std::vector<std::size_t> widths_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace cpplan::report
