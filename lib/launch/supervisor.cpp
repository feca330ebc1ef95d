#include "launch/supervisor.hpp"

#include <fmt/format.h>

#include <csignal>
#include <vector>

namespace cpplan::launch {
namespace {

constexpr Seconds tick{0.05};
/// mpirun takes about a second from a rank's end to its account of it (SIGTERM, then SIGKILL).
constexpr Seconds account_limit{2.5};
constexpr Seconds term_limit{0.5};
constexpr std::size_t own_output_limit = 64 << 10;

class Supervisor {
 public:
  Supervisor(Processes& processes, const Supervision& job, const Listener& listener)
      : processes_(processes),
        job_(job),
        listener_(listener),
        ranks_(static_cast<std::size_t>(job.world)) {}

  Result<Outcome> run(const Command& command) {
    if (const auto spawned = processes_.spawn(command); !spawned)
      return tl::unexpected(spawned.error());
    while (!processes_.ended()) {
      pass_output_on(tick);
      look_at_ranks();
      if (listener_.stop_requested && listener_.stop_requested()) return interrupted();
      pass_request_on();
      if (auto failure = first_failure(views(), job_.start_limit)) return failed(*failure);
    }
    pass_output_on(Seconds(0));
    look_at_ranks();
    return launcher_ended(*processes_.ended());
  }

 private:
  struct Rank {
    RankView view;
    Seconds changed{};      // when its entry last did
    std::string last_line;  // it wrote to its standard error
  };

  std::vector<RankView> views() const {
    std::vector<RankView> result;
    for (const Rank& rank : ranks_) result.push_back(rank.view);
    return result;
  }

  void look_at_ranks() {
    for (int i = 0; i < job_.world; ++i) look_at(ranks_[static_cast<std::size_t>(i)], i);
    const auto& first = ranks_.front().view.status;
    if (listener_.progress && first) listener_.progress(first->step);
  }

  void look_at(Rank& rank, int number) {
    const auto path = job_.folder.status_file(number);
    auto status = record::read_rank_status(path);
    if (!status) return;
    rank.view.life = processes_.life(status->pid, status->start_ticks);
    // A rank may have finished between the two looks; gone counts only with what it said last.
    if (rank.view.life == Life::gone) status = record::read_rank_status(path);
    if (!status) return;
    const bool moved = !rank.view.status || rank.view.status->updates != status->updates;
    if (moved) rank.changed = processes_.now();
    rank.view.unchanged = processes_.now() - rank.changed;
    rank.view.status = *status;
  }

  /// mpirun and srun forward SIGUSR1 to the ranks, wherever they are; once all of them listen.
  void pass_request_on() {
    const bool asked = listener_.checkpoint_requested && listener_.checkpoint_requested();
    if (!asked || request_passed_on_ || !all_in_steps()) return;
    request_passed_on_ = true;
    processes_.signal_launcher(SIGUSR1);
  }

  bool all_in_steps() const {
    for (const Rank& rank : ranks_)
      if (!rank.view.status || rank.view.status->step == 0) return false;
    return true;
  }

  void pass_output_on(Seconds limit) {
    for (const OutputLine& line : processes_.output(limit)) {
      const TaggedLine tagged = parse_tagged(line.text, line.stream);
      if (tagged.rank && *tagged.rank < job_.world) {
        if (tagged.stream == Stream::error)
          ranks_[static_cast<std::size_t>(*tagged.rank)].last_line = tagged.text;
        if (listener_.line) listener_.line(*tagged.rank, tagged.stream, tagged.text);
      } else if (own_output_.size() < own_output_limit) {
        own_output_ += tagged.text + "\n";
      }
    }
  }

  Outcome failed(RankFailure failure) {
    const auto seen = views();
    await_launcher(tick);  // ranks die with it, and a moment before it has
    if (const auto exit = processes_.ended(); exit && exit->signal != 0) {
      make_sure_of_the_end();
      return blame_launcher(*exit);
    }
    kill_ranks();
    await_launcher(account_limit);
    make_sure_of_the_end();
    settle_who_died_first(failure, seen);
    complete(failure);
    return {Outcome::End::failed, std::move(failure)};
  }

  Outcome interrupted() {
    kill_ranks();  // they leave SIGTERM to us
    processes_.signal_launcher(SIGTERM);
    await_launcher(account_limit);
    make_sure_of_the_end();
    return {Outcome::End::interrupted, {}};
  }

  /// The launcher has gone first: in order, with a rank that ended badly, or by itself.
  Result<Outcome> launcher_ended(const Exit& exit) {
    const auto seen = views();
    make_sure_of_the_end();
    if (exit.well() && all_in(record::RankState::finished))
      return Outcome{Outcome::End::finished, {}};
    if (exit.well() && all_in(record::RankState::checkpointed))
      return Outcome{Outcome::End::checkpointed, {}};
    if (exit.signal != 0) return blame_launcher(exit);
    if (auto failure = first_failure(seen, job_.start_limit)) {
      settle_who_died_first(*failure, seen);
      complete(*failure);
      return Outcome{Outcome::End::failed, std::move(failure)};
    }
    if (const auto notice = parse_notice(own_output_)) return noticed(*notice);
    if (nobody_started())
      return cpplan::failure(
          fmt::format("mpirun did not start the ranks (it {}): {}", describe(exit), own_output_));
    return blame_launcher(exit);
  }

  Outcome blame_launcher(const Exit& exit) {
    RankFailure failure{
        .cause = Cause::launcher, .rank = {}, .status = {}, .exit = exit, .last_words = {}};
    return {Outcome::End::failed, std::move(failure)};
  }

  /// A rank of which mpirun alone knows: it ended before its first word, or after its last.
  Outcome noticed(const Notice& notice) {
    RankFailure failure{.cause = Cause::died,
                        .rank = notice.rank,
                        .status = {},
                        .exit = notice.exit,
                        .last_words = {}};
    if (notice.rank >= 0 && notice.rank < job_.world) {
      const auto& status = ranks_[static_cast<std::size_t>(notice.rank)].view.status;
      failure.status = status.value_or(record::RankStatus{});
    }
    complete(failure);
    return {Outcome::End::failed, std::move(failure)};
  }

  /// Several were gone at one look: mpirun saw which went first, also where that one never came to
  /// its first word.
  void settle_who_died_first(RankFailure& failure, const std::vector<RankView>& seen) const {
    const auto notice = parse_notice(own_output_);
    if (failure.cause != Cause::died || !notice || notice->rank < 0 || notice->rank >= job_.world)
      return;
    const RankView& first = seen[static_cast<std::size_t>(notice->rank)];
    if (first.status && first.life != Life::gone) return;
    failure.rank = notice->rank;
    failure.status = first.status.value_or(record::RankStatus{});
    failure.last_words = failure.status.last_words;
  }

  /// How it ended, from mpirun's account; last words, from what it printed.
  void complete(RankFailure& failure) const {
    const auto notice = parse_notice(own_output_);
    const bool ended = failure.cause == Cause::died;
    if (ended && notice && notice->rank == failure.rank) failure.exit = notice->exit;
    if (failure.last_words.empty() && failure.rank && *failure.rank < job_.world)
      failure.last_words = ranks_[static_cast<std::size_t>(*failure.rank)].last_line;
  }

  bool all_in(record::RankState state) const {
    for (const Rank& rank : ranks_)
      if (!rank.view.status || rank.view.status->state != state) return false;
    return true;
  }

  bool nobody_started() const {
    for (const Rank& rank : ranks_)
      if (rank.view.status) return false;
    return true;
  }

  void kill_ranks() {
    for (const Rank& rank : ranks_)
      if (const auto& status = rank.view.status)
        processes_.kill_rank(status->pid, status->start_ticks);
  }

  void await_launcher(Seconds limit) {
    const Seconds end = processes_.now() + limit;
    while (!processes_.ended() && processes_.now() < end) {
      pass_output_on(tick);
      if (listener_.stop_repeated && listener_.stop_repeated()) processes_.signal_launcher(SIGKILL);
    }
    pass_output_on(Seconds(0));
  }

  /// No process of the job outlives this, whatever state the launcher and the ranks were in.
  void make_sure_of_the_end() {
    if (!processes_.ended()) {
      processes_.signal_launcher(SIGTERM);
      await_launcher(term_limit);
    }
    processes_.signal_launcher(SIGKILL);
    await_launcher(term_limit);
    look_at_ranks();  // some may have come up in the meantime
    kill_ranks();
    const Seconds end = processes_.now() + term_limit;
    while (any_rank_lives() && processes_.now() < end) pass_output_on(tick / 5);
  }

  bool any_rank_lives() {
    for (const Rank& rank : ranks_)
      if (const auto& status = rank.view.status)
        if (processes_.life(status->pid, status->start_ticks) != Life::gone) return true;
    return false;
  }

  Processes& processes_;
  const Supervision& job_;
  const Listener& listener_;
  std::vector<Rank> ranks_;
  std::string own_output_;
  bool request_passed_on_ = false;
};

}  // namespace

Result<Outcome> supervise(Processes& processes, const Command& command, const Supervision& job,
                          const Listener& listener) {
  return Supervisor(processes, job, listener).run(command);
}

}  // namespace cpplan::launch
