#pragma once
// What mpirun (Open MPI 4) prints: the ranks' lines under tags, and its own account of a job that
// went wrong.
#include <optional>
#include <string>
#include <string_view>

namespace cpplan::launch {

enum class Stream { out, error };

/// How a process ended: by a signal, or with a code.
struct Exit {
  int code = 0;
  int signal = 0;  // 0: none
  bool well() const { return code == 0 && signal == 0; }
  friend bool operator==(const Exit&, const Exit&) = default;
};
/// "was killed by signal 9 (SIGKILL)", "exited with 3"
std::string describe(const Exit&);

/// "[1,5]<stdout>:text": a line of rank 5. No rank: mpirun's own.
struct TaggedLine {
  std::optional<int> rank;
  Stream stream = Stream::out;
  std::string text;
};
TaggedLine parse_tagged(std::string_view line, Stream stream);

/// The first rank that mpirun saw end badly, and how.
struct Notice {
  int rank = 0;
  Exit exit;
};
/// Of its whole own output; nothing where it names no rank.
std::optional<Notice> parse_notice(std::string_view own_output);

}  // namespace cpplan::launch
