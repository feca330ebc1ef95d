#pragma once
// What --help says around the flags, and the answers to a command line that cannot be understood.
#include <span>
#include <string>
#include <string_view>

namespace cpplan::app {

extern const std::string_view help_header;  // one sentence and two examples
extern const std::string_view help_footer;  // exit codes

/// "cpplan 0.1.0"
std::string version_text();

/// Prints "error: message" and where help is to be had on standard error; returns ExitCode::usage.
/// `subcommand` is empty before one is known.
int usage_error(std::string_view subcommand, std::string_view message);

/// "no subcommand "vaildate". did you mean validate?", or all of them.
std::string unknown_word(std::string_view kind, std::string_view word,
                         std::span<const std::string> known);

}  // namespace cpplan::app
