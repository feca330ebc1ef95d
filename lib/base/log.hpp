#pragma once
// What the program says about its own doings. Always on stderr: stdout carries results alone.
#include <string_view>

namespace cpplan::log {

enum class Level { debug, info, warning, error, off };

/// Messages below this level are dropped; warning at start.
void set_level(Level level);
/// Stands before every message: "rank 3". Empty at start.
void set_prefix(std::string_view prefix);

void debug(std::string_view message);
void info(std::string_view message);
void warning(std::string_view message);
void error(std::string_view message);

}  // namespace cpplan::log
