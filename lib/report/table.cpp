#include "report/table.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace cpplan::report {
namespace {

constexpr std::string_view gap = "  ";

std::string padded(const std::string& cell, std::size_t width, Align align) {
  const std::string space(width - cell.size(), ' ');
  return align == Align::left ? cell + space : space + cell;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (const Column& column : columns_) widths_.push_back(column.title.size());
}

void Table::add(std::vector<std::string> cells) {
  expect(cells.size() == columns_.size(), "a row has a cell for each column");
  for (std::size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], cells[i].size());
  rows_.push_back(std::move(cells));
}

std::string Table::line(const std::vector<std::string>& cells) const {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i)
    line.append(gap).append(padded(cells[i], widths_[i], columns_[i].align));
  line.erase(line.find_last_not_of(' ') + 1);
  return line + '\n';
}

std::string Table::text() const {
  std::vector<std::string> titles;
  for (const Column& column : columns_) titles.push_back(column.title);
  const bool titled = std::ranges::any_of(titles, [](const auto& title) { return !title.empty(); });
  std::string text = titled ? line(titles) : "";
  for (const auto& row : rows_) text += line(row);
  return text;
}

}  // namespace cpplan::report
