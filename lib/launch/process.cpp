#include "launch/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.hpp"
#include "record/rank_status.hpp"

namespace cpplan::launch {
namespace {

/// The reading end of a pipe, cut into lines.
class LinePipe {
 public:
  LinePipe(int file, Stream stream) : file_(file), stream_(stream) {
    fcntl(file_, F_SETFL, O_NONBLOCK);
  }
  ~LinePipe() { shut(); }
  LinePipe(const LinePipe&) = delete;
  LinePipe& operator=(const LinePipe&) = delete;

  int file() const { return file_; }  // -1 at its end

  void read_into(std::vector<OutputLine>& lines) {
    std::array<char, 65536> buffer;
    while (file_ >= 0) {
      const ssize_t size = read(file_, buffer.data(), buffer.size());
      if (size < 0 && errno == EINTR) continue;
      if (size < 0) return;
      rest_.append(buffer.data(), static_cast<std::size_t>(size));
      take_lines(lines);
      if (size == 0) shut();
    }
    if (!rest_.empty()) lines.push_back({stream_, std::exchange(rest_, "")});
  }

 private:
  void take_lines(std::vector<OutputLine>& lines) {
    std::size_t from = 0;
    for (std::size_t end; (end = rest_.find('\n', from)) != std::string::npos; from = end + 1)
      lines.push_back({stream_, rest_.substr(from, end - from)});
    rest_.erase(0, from);
  }
  void shut() {
    if (file_ >= 0) close(file_);
    file_ = -1;
  }

  int file_;
  Stream stream_;
  std::string rest_;
};

struct Pipe {
  int read = -1, write = -1;
};

void close_both(const Pipe& pipe) {
  for (const int end : {pipe.read, pipe.write})
    if (end >= 0) close(end);
}

/// All of them or none.
Result<std::array<Pipe, 3>> make_pipes() {
  std::array<Pipe, 3> pipes;
  for (Pipe& pipe : pipes) {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) {
      const int why = errno;
      for (const Pipe& made : pipes) close_both(made);
      return failure(fmt::format("cannot make a pipe ({})", std::strerror(why)));
    }
    pipe = {ends[0], ends[1]};
  }
  return pipes;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Ours with the command's own on top, as execve takes it.
std::vector<std::string> merged_environment(const std::vector<Variable>& added) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('='));
    bool replaced = false;
    for (const Variable& variable : added) replaced = replaced || variable.first == name;
    if (!replaced) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

/// In the child, between fork and exec: only calls that are safe there. Comes back on failure.
void become(char* const* arguments, char* const* environment, pid_t parent, int out, int error) {
  setpgid(0, 0);  // a Ctrl-C of the terminal reaches us alone: we end the job in order
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  dup2(nothing, STDIN_FILENO);
  dup2(out, STDOUT_FILENO);
  dup2(error, STDERR_FILENO);
  execvpe(arguments[0], arguments, environment);
}

class SystemProcesses final : public Processes {
 public:
  ~SystemProcesses() override {
    if (pid_ > 0 && !ended()) {
      kill(reach_ == SignalReach::group ? -pid_ : pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }

  Result<void> spawn(const Command& command) override {
    const auto pipes = make_pipes();
    if (!pipes) return tl::unexpected(pipes.error());
    const auto& [out, error, report] = *pipes;
    std::vector<std::string> words = command.arguments;
    std::vector<std::string> variables = merged_environment(command.environment);
    const auto arguments = pointers(words), environment = pointers(variables);
    const pid_t parent = getpid();
    reach_ = command.signals;

    pid_ = fork();
    if (pid_ == 0) {
      become(arguments.data(), environment.data(), parent, out.write, error.write);
      const int why = errno;
      [[maybe_unused]] const auto written = write(report.write, &why, sizeof why);
      _exit(127);
    }
    const int why_no_fork = pid_ < 0 ? errno : 0;
    for (const int end : {out.write, error.write, report.write}) close(end);
    out_.emplace(out.read, Stream::out);
    error_.emplace(error.read, Stream::error);
    return started(command.arguments[0], report.read, why_no_fork);
  }

  std::vector<OutputLine> output(Seconds limit) override {
    std::vector<OutputLine> lines;
    std::array<pollfd, 2> files = {pollfd{out_->file(), POLLIN, 0},
                                   pollfd{error_->file(), POLLIN, 0}};
    poll(files.data(), files.size(), static_cast<int>(limit.count() * 1000));
    out_->read_into(lines);
    error_->read_into(lines);
    return lines;
  }

  std::optional<Exit> ended() override {
    int status = 0;
    if (!exit_ && waitpid(pid_, &status, WNOHANG) == pid_)
      exit_ = WIFSIGNALED(status) ? Exit{0, WTERMSIG(status)} : Exit{WEXITSTATUS(status), 0};
    return exit_;
  }

  void signal_launcher(int signal) override {
    if (!ended()) kill(reach_ == SignalReach::group ? -pid_ : pid_, signal);
  }

  Life life(int pid, Index start_ticks) override {
    const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
    if (!stat || record::process_start_ticks(pid).value_or(-1) != start_ticks) return Life::gone;
    const char state = (*stat)[stat->rfind(')') + 2];
    if (state == 'Z' || state == 'X') return Life::gone;
    return state == 'T' || state == 't' ? Life::stopped : Life::running;
  }

  void kill_rank(int pid, Index start_ticks) override {
    if (life(pid, start_ticks) != Life::gone) kill(pid, SIGKILL);
  }

  Seconds now() override { return std::chrono::steady_clock::now().time_since_epoch(); }

 private:
  /// The pipe closes when exec succeeds, or carries why it did not; a fork that failed says so
  /// before.
  Result<void> started(const std::string& program, int report, int why) {
    const bool failed = pid_ < 0 || read(report, &why, sizeof why) > 0;
    close(report);
    if (!failed) return {};
    if (pid_ > 0) waitpid(std::exchange(pid_, -1), nullptr, 0);
    return failure(fmt::format(
        "cannot start \"{}\" ({}). {}, or use --transport threads", program, std::strerror(why),
        program == "srun" ? "Load the site's SLURM module"
                          : "Install Open MPI (apt-get install openmpi-bin)"));
  }

  pid_t pid_ = -1;
  SignalReach reach_ = SignalReach::group;
  std::optional<Exit> exit_;
  std::optional<LinePipe> out_, error_;
};

}  // namespace

std::unique_ptr<Processes> make_processes() {
  return std::make_unique<SystemProcesses>();
}

}  // namespace cpplan::launch
