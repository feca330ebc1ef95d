#include "app/usage.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <vector>

#include "app/exit_code.hpp"
#include "base/text.hpp"

namespace cpplan::app {

const std::string_view help_header =
    R"(Checks, plans and runs the parallelism of a training config: TP x CP x PP x DP.

Examples:
  cpplan validate train.yaml                  every mistake, with values that work
  cpplan plan train.yaml --world-size 8       batch size, steps, layout and traffic
)";

const std::string_view help_footer = R"(Exit codes:
  0    fine
  1    findings of severity error
  2    the command line cannot be understood
  3    the environment lacks something: unreadable file, no mpirun, no GPU where one is required
  4    a rank failed or timed out
  5    a prediction or an equality check did not hold
  70   our own bug
  75   wrote a checkpoint on request and stopped
  130  interrupted

`cpplan SUBCOMMAND --help` shows the flags of a subcommand.)";

std::string version_text() {
  return "cpplan " CPPLAN_VERSION;
}

int usage_error(std::string_view subcommand, std::string_view message) {
  const std::string command = subcommand.empty() ? "cpplan" : fmt::format("cpplan {}", subcommand);
  fmt::print(stderr, "error: {}\nsee `{} --help`\n", message, command);
  return usage;
}

std::string unknown_word(std::string_view kind, std::string_view word,
                         std::span<const std::string> known) {
  const std::vector<std::string_view> candidates(known.begin(), known.end());
  const auto near = did_you_mean(word, candidates);
  const std::string advice = near.empty() ? "use " + join_words(known, "or")
                                          : "did you mean " + join_words(near, "or") + "?";
  return fmt::format("there is no {} \"{}\". {}", kind, word, advice);
}

}  // namespace cpplan::app
