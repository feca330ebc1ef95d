#pragma once
// Whether a stream gets colours.
#include <functional>
#include <optional>
#include <string>

#include "app/options.hpp"
#include "diag/render_text.hpp"

namespace cpplan::app {

enum class Stream { standard_output, standard_error };

/// Value of an environment variable; none where it is not set.
using Lookup = std::function<std::optional<std::string>(const char* name)>;

/// `mode` beats the environment. There NO_COLOR (not empty) says no, then CLICOLOR_FORCE (neither
/// empty nor 0) says yes; else a terminal whose TERM is not dumb gets colours.
diag::Color choose_color(ColorMode mode, bool is_terminal, const Lookup& variable);

/// The same for a stream of this process.
diag::Color color_of(Stream stream, ColorMode mode);

}  // namespace cpplan::app
