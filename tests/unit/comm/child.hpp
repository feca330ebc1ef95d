#pragma once
// A body run in a forked process, for what ends the process: broken contracts, the watchdog.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <functional>
#include <string>

namespace cpplan::comm::test {

struct Ending {
  int exit_code;
  std::string errors;  // what it wrote to stderr
};

inline std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 512> buffer{};
  for (ssize_t n = 0; (n = read(descriptor, buffer.data(), buffer.size())) > 0;)
    text.append(buffer.data(), static_cast<std::size_t>(n));
  return text;
}

inline Ending run_in_child(const std::function<void()>& body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) return {-1, "no pipe"};
  std::fflush(nullptr);  // or the child prints it again
  const pid_t child = fork();
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    close(pipe_ends[0]);
    close(pipe_ends[1]);
    body();
    _exit(0);
  }
  close(pipe_ends[1]);
  Ending ending{-1, read_all(pipe_ends[0])};
  close(pipe_ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ending.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ending;
}

}  // namespace cpplan::comm::test
