#include "launch/stop_request.hpp"

#include <csignal>

namespace cpplan::launch {
namespace {

volatile std::sig_atomic_t requested = 0;

void remember(int) {
  requested = 1;
}

struct Handlers {
  struct sigaction interrupt, terminate;
};
Handlers before{};

}  // namespace

StopRequest::StopRequest() {
  requested = 0;
  struct sigaction action {};
  action.sa_handler = remember;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &before.interrupt);
  sigaction(SIGTERM, &action, &before.terminate);
}

StopRequest::~StopRequest() {
  sigaction(SIGINT, &before.interrupt, nullptr);
  sigaction(SIGTERM, &before.terminate, nullptr);
}

bool StopRequest::made() const {
  return requested != 0;
}

}  // namespace cpplan::launch
