#include "app/color.hpp"

#include <unistd.h>

#include <cstdlib>

namespace cpplan::app {
namespace {

bool terminal_shows_color(bool is_terminal, const Lookup& variable) {
  if (!variable("NO_COLOR").value_or("").empty()) return false;
  const std::string force = variable("CLICOLOR_FORCE").value_or("");
  if (!force.empty() && force != "0") return true;
  return is_terminal && variable("TERM").value_or("dumb") != "dumb";
}

std::optional<std::string> process_variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace

diag::Color choose_color(ColorMode mode, bool is_terminal, const Lookup& variable) {
  const bool colored = mode == ColorMode::always || (mode == ColorMode::automatic &&
                                                     terminal_shows_color(is_terminal, variable));
  return colored ? diag::Color::always : diag::Color::never;
}

diag::Color color_of(Stream stream, ColorMode mode) {
  const int descriptor = stream == Stream::standard_output ? STDOUT_FILENO : STDERR_FILENO;
  return choose_color(mode, ::isatty(descriptor) == 1, process_variable);
}

}  // namespace cpplan::app
