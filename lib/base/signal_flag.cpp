#include "base/signal_flag.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cpplan {
namespace {

// A handler may touch nothing but this.
std::array<volatile std::sig_atomic_t, 65> came{};

void remember(int signal) {
  came[static_cast<std::size_t>(signal)] = 1;
}

}  // namespace

SignalFlag::SignalFlag(std::vector<int> signals) : signals_(std::move(signals)) {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  before_.resize(signals_.size());
  for (std::size_t i = 0; i < signals_.size(); ++i) {
    came[static_cast<std::size_t>(signals_[i])] = 0;
    sigaction(signals_[i], &action, &before_[i]);
  }
}

SignalFlag::~SignalFlag() {
  for (std::size_t i = signals_.size(); i-- > 0;) sigaction(signals_[i], &before_[i], nullptr);
}

bool SignalFlag::raised() const {
  return std::ranges::any_of(
      signals_, [](int signal) { return came[static_cast<std::size_t>(signal)] != 0; });
}

}  // namespace cpplan
