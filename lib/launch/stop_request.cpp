#include "launch/stop_request.hpp"

#include <array>
#include <csignal>

namespace cpplan::launch {
namespace {

constexpr std::array signals = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t requests = 0;

void count(int) {
  requests = requests + 1;
}

std::array<struct sigaction, signals.size()> before{};

}  // namespace

StopRequest::StopRequest() {
  requests = 0;
  struct sigaction action {};
  action.sa_handler = count;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < signals.size(); ++i) {
    sigaction(signals[i], &action, &before[i]);
    // Under nohup the end of the terminal is not the end of the run.
    if (signals[i] == SIGHUP && before[i].sa_handler == SIG_IGN)
      sigaction(SIGHUP, &before[i], nullptr);
  }
}

StopRequest::~StopRequest() {
  for (std::size_t i = 0; i < signals.size(); ++i) sigaction(signals[i], &before[i], nullptr);
}

bool StopRequest::made() const {
  return requests > 0;
}

bool StopRequest::repeated() const {
  return requests > 1;
}

}  // namespace cpplan::launch
