#include "base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <string>

namespace cpplan::log {
namespace {

spdlog::level::level_enum native(Level level) {
  switch (level) {
    case Level::debug:
      return spdlog::level::debug;
    case Level::info:
      return spdlog::level::info;
    case Level::warning:
      return spdlog::level::warn;
    case Level::error:
      return spdlog::level::err;
    case Level::off:
      break;
  }
  return spdlog::level::off;
}

std::string pattern(std::string_view prefix) {
  std::string out = "cpplan: ";
  for (const char c : prefix) out += c == '%' ? std::string("%%") : std::string(1, c);
  return out + (prefix.empty() ? "" : ": ") + "%^%l%$: %v";
}

/// Not registered with spdlog by name, so that it outlives nothing and collides with nothing.
spdlog::logger& logger() {
  static spdlog::logger instance = [] {
    spdlog::logger made("cpplan", std::make_shared<spdlog::sinks::stderr_color_sink_mt>());
    made.set_pattern(pattern(""));
    made.set_level(spdlog::level::warn);
    made.flush_on(spdlog::level::debug);
    return made;
  }();
  return instance;
}

spdlog::string_view_t view(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace

void set_level(Level level) {
  logger().set_level(native(level));
}
void set_prefix(std::string_view prefix) {
  logger().set_pattern(pattern(prefix));
}

void debug(std::string_view message) {
  logger().log(spdlog::level::debug, view(message));
}
void info(std::string_view message) {
  logger().log(spdlog::level::info, view(message));
}
void warning(std::string_view message) {
  logger().log(spdlog::level::warn, view(message));
}
void error(std::string_view message) {
  logger().log(spdlog::level::err, view(message));
}

}  // namespace cpplan::log
