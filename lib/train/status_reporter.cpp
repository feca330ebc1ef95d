#include "train/status_reporter.hpp"

#include <unistd.h>

#include <chrono>
#include <utility>

namespace cpplan::train {
namespace {
constexpr std::chrono::milliseconds look{250};
constexpr int looks_without_a_word = 4;
}  // namespace

StatusReporter::StatusReporter(const record::StatusFile& status, Write write)
    : status_(status),
      write_(std::move(write)),
      thread_([this](const std::stop_token& stop) { keep_reporting(stop); }) {}

StatusReporter::~StatusReporter() = default;

void StatusReporter::report_now() {
  const std::scoped_lock lock(mutex_);
  last_.status = status_.read();
  write_(record::report_line(last_));
}

void StatusReporter::report_end(int exit_code) {
  {
    const std::scoped_lock lock(mutex_);
    last_.exit_code = exit_code;
  }
  report_now();
}

void StatusReporter::keep_reporting(const std::stop_token& stop) {
  int silent = 0;
  while (!stop.stop_requested()) {
    const bool due = changed() || ++silent == looks_without_a_word;
    if (due) report_now(), silent = 0;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, look, [] { return false; });
  }
}

bool StatusReporter::changed() const {
  const std::scoped_lock lock(mutex_);
  return status_.read().updates != last_.status.updates;
}

void write_line_to_stderr(const std::string& line) {
  const std::string whole = line + "\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, whole.data(), whole.size());
}

}  // namespace cpplan::train
