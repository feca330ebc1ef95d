#include "launch/launcher_output.hpp"

#include "launch/srun_output.hpp"

namespace cpplan::launch {

TaggedLine parse_tagged(Launcher launcher, std::string_view line, Stream stream) {
  return launcher == Launcher::srun ? parse_labelled(line, stream) : parse_tagged(line, stream);
}

std::optional<Notice> parse_notice(Launcher launcher, std::string_view own_output) {
  return launcher == Launcher::srun ? parse_srun_notice(own_output) : parse_notice(own_output);
}

}  // namespace cpplan::launch
