// The process that hangs ends with its last words and exit code 4.
#include "comm/watchdog.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <thread>

#include "child.hpp"

namespace cpplan::comm::test {
namespace {
using namespace std::chrono_literals;

void say(const std::string& what, std::chrono::milliseconds limit) {
  std::fprintf(stderr, "%s hangs for %d ms\n", what.c_str(), static_cast<int>(limit.count()));
}

TEST_CASE("watchdog: what takes longer than its limit ends the process") {
  const auto ending = run_in_child([] {
    Watchdog watchdog(say);
    const auto watch = watchdog.watch("step 12", 50ms);
    std::this_thread::sleep_for(30s);
  });
  CHECK(ending.exit_code == 4);
  CHECK(ending.errors == "step 12 hangs for 50 ms\n");
}

TEST_CASE("watchdog: the nearest of nested limits counts") {
  const auto ending = run_in_child([] {
    Watchdog watchdog(say);
    const auto outer = watchdog.watch("step 12", 30s);
    const auto inner = watchdog.watch("kernel", 50ms);
    std::this_thread::sleep_for(30s);
  });
  CHECK(ending.exit_code == 4);
  CHECK(ending.errors == "kernel hangs for 50 ms\n");
}

TEST_CASE("watchdog: last words that hang themselves do not keep the process") {
  const auto begin = std::chrono::steady_clock::now();
  const auto ending = run_in_child([] {
    Watchdog watchdog([](const auto&, auto) { std::this_thread::sleep_for(60s); });
    const auto watch = watchdog.watch("step 12", 10ms);
    std::this_thread::sleep_for(60s);
  });
  CHECK(ending.exit_code == 4);
  CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("watchdog: what ends in time is left alone") {
  const auto ending = run_in_child([] {
    Watchdog watchdog(say);
    for (int i = 0; i < 100; ++i) const auto watch = watchdog.watch("step", 5s);
    { const auto watch = watchdog.watch("step", 100ms); }
    std::this_thread::sleep_for(200ms);
  });
  CHECK(ending.exit_code == 0);
  CHECK(ending.errors.empty());
}

}  // namespace
}  // namespace cpplan::comm::test
