#include "launch/shell_words.hpp"

#include <algorithm>
#include <cctype>
#include <optional>

#include "diag/rule_table.hpp"

namespace cpplan::launch {
namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r';
}

bool ends_command(char c) {
  return c == ';' || c == '&' || c == '|' || c == '\n' || c == '(' || c == ')';
}

/// Reads a line from left to right; quotes and backslashes as POSIX has them.
class Splitter {
 public:
  Splitter(const diag::SourceFile& line, std::size_t begin, std::size_t end)
      : line_(line), text_(line.text()), at_(begin), end_(end) {}

  tl::expected<std::vector<Words>, diag::Diagnostic> split() {
    while (at_ < end_ && !error_) step();
    finish_command();
    if (error_) return tl::unexpected(*error_);
    return std::move(commands_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (is_line_continuation())
      at_ += 2;
    else if (is_blank(c))
      ++at_;
    else if (ends_command(c))
      ++at_, finish_command();
    else if (c == '#')
      skip_comment();
    else if (c == '<' || c == '>')
      skip_redirection();
    else
      read_word();
  }

  bool is_line_continuation() const {
    return text_[at_] == '\\' && at_ + 1 < end_ && text_[at_ + 1] == '\n';
  }

  void skip_comment() {
    while (at_ < end_ && text_[at_] != '\n') ++at_;
  }

  /// The operator and the word behind it; a number right before it was no argument.
  void skip_redirection() {
    const bool number = !words_.empty() && words_.back().end == at_ &&
                        std::ranges::all_of(words_.back().text,
                                            [](unsigned char c) { return std::isdigit(c) != 0; });
    if (number) words_.pop_back();
    while (at_ < end_ && (text_[at_] == '<' || text_[at_] == '>' || text_[at_] == '&')) ++at_;
    while (at_ < end_ && is_blank(text_[at_])) ++at_;
    if (at_ >= end_ || ends_command(text_[at_])) return;
    read_word();
    words_.pop_back();
  }

  void read_word() {
    Word word;
    word.begin = at_;
    for (; at_ < end_ && !error_ && !ends_word(text_[at_]); ++at_) read_character(word);
    word.end = std::min(at_, end_);
    word.span = line_.span(word.begin, word.end);
    words_.push_back(std::move(word));
  }

  bool ends_word(char c) const { return is_blank(c) || ends_command(c) || c == '<' || c == '>'; }

  void read_character(Word& word) {
    const char c = text_[at_];
    if (c == '\'' || c == '"')
      read_quoted(word, c);
    else if (c == '\\' && at_ + 1 < end_)
      append_escaped(word);
    else
      append(word, c);
  }

  void append_escaped(Word& word) {
    if (text_[++at_] != '\n') word.text += text_[at_];
  }

  void append(Word& word, char c) {
    word.expands = word.expands || c == '$' || c == '`';
    word.text += c;
  }

  void read_quoted(Word& word, char quote) {
    const std::size_t open = at_;
    for (++at_; at_ < end_ && text_[at_] != quote; ++at_) {
      const bool escape = quote == '"' && text_[at_] == '\\' && at_ + 1 < end_;
      if (escape)
        append_escaped(word);
      else if (quote == '\'')
        word.text += text_[at_];
      else
        append(word, text_[at_]);
    }
    if (at_ >= end_) error_ = not_closed(open);
  }

  diag::Diagnostic not_closed(std::size_t open) const {
    return diag::finding("CP520", line_.span(open, open + 1), "the quote is not closed",
                         {.why = "a shell would read on in the next line",
                          .help = {std::string("add ") + text_[open] + " where the text ends"}});
  }

  void finish_command() {
    if (!words_.empty()) commands_.push_back(std::move(words_));
    words_.clear();
  }

  const diag::SourceFile& line_;
  const std::string& text_;
  std::size_t at_, end_;
  Words words_;
  std::vector<Words> commands_;
  std::optional<diag::Diagnostic> error_;
};

}  // namespace

tl::expected<std::vector<Words>, diag::Diagnostic> split_commands(const diag::SourceFile& line) {
  return split_commands(line, 0, line.text().size());
}

tl::expected<std::vector<Words>, diag::Diagnostic> split_commands(const diag::SourceFile& line,
                                                                  std::size_t begin,
                                                                  std::size_t end) {
  return Splitter(line, begin, end).split();
}

}  // namespace cpplan::launch
