#include "app/progress_bar.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace cpplan::app {

ProgressBar::ProgressBar(Index total) : total_(total), on_terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressBar::show(Index done) {
  if (!on_terminal_ || total_ < 1) return;
  constexpr Index width = 30;
  const auto filled = static_cast<std::size_t>(std::min(width, done * width / total_));
  fmt::print(stderr, "\r[{}{}] step {}/{}\x1b[K", std::string(filled, '='),
             std::string(static_cast<std::size_t>(width) - filled, ' '), done, total_);
  std::fflush(stderr);
  drawn_ = true;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace cpplan::app
