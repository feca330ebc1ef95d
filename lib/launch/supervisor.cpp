#include "launch/supervisor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <vector>

#include "launch/launcher_output.hpp"
#include "launch/rank_watch.hpp"

namespace cpplan::launch {
namespace {

constexpr Seconds tick{0.05};
/// mpirun takes about a second from a rank's end to its account of it (SIGTERM, then SIGKILL).
constexpr Seconds account_limit{2.5};
/// Over several hosts its daemons take as long again.
constexpr Seconds account_limit_of_hosts{6};
constexpr std::size_t own_output_limit = 64 << 10;

class Supervisor {
 public:
  Supervisor(Processes& processes, const Supervision& job, const Listener& listener)
      : processes_(processes),
        job_(job),
        listener_(listener),
        watch_(make_watch(processes, job)),
        last_lines_(static_cast<std::size_t>(job.world)) {}

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
  static std::unique_ptr<RankWatch> make_watch(Processes& processes, const Supervision& job) {
    if (job.watched == record::WatchedThrough::output)
      return watch_output(processes, job.world, job.host);
    return watch_folder(processes, job.world, job.folder);
  }

  const std::vector<RankView>& views() const { return watch_->views(); }
  bool is_rank(int rank) const { return rank >= 0 && rank < job_.world; }
  const RankView& view(int rank) const { return views()[static_cast<std::size_t>(rank)]; }

  void look_at_ranks() {
    watch_->look();
    const auto& first = view(0).status;
    if (listener_.progress && first) listener_.progress(first->step);
  }

  /// mpirun and srun forward SIGUSR1 to the ranks, wherever they are; once all of them listen.
  void pass_request_on() {
    const bool asked = listener_.checkpoint_requested && listener_.checkpoint_requested();
    if (!asked || request_passed_on_ || !all_in_steps()) return;
    request_passed_on_ = true;
    processes_.signal_launcher(SIGUSR1);
  }

  bool all_in_steps() const {
    return std::ranges::all_of(
        views(), [](const RankView& rank) { return rank.status && rank.status->step > 0; });
  }

  void pass_output_on(Seconds limit) {
    for (const OutputLine& line : processes_.output(limit)) {
      const TaggedLine tagged = parse_tagged(job_.launcher, line.text, line.stream);
      if (tagged.rank && is_rank(*tagged.rank))
        pass_on(*tagged.rank, tagged);
      else if (own_output_.size() < own_output_limit)
        own_output_ += tagged.text + "\n";
    }
  }

  void pass_on(int rank, const TaggedLine& line) {
    if (watch_->take(rank, line.text)) return;
    if (line.stream == Stream::error) last_lines_[static_cast<std::size_t>(rank)] = line.text;
    if (listener_.line) listener_.line(rank, line.stream, line.text);
  }

  Outcome failed(RankFailure failure) {
    const auto seen = views();
    await_launcher(patience_for(failure));
    if (const auto exit = processes_.ended(); exit && exit->signal != 0) {
      make_sure_of_the_end();
      return blame_launcher(*exit);
    }
    if (!processes_.ended()) end_ranks();
    make_sure_of_the_end();
    settle_who_died_first(failure, seen);
    complete(failure);
    return {Outcome::End::failed, std::move(failure)};
  }

  /// Ranks die with their launcher, and a moment before it has. That a rank of another host is gone
  /// the launcher alone knows; we may hear of those that waited for it before.
  Seconds patience_for(const RankFailure& failure) const {
    const bool seen =
        job_.watched == record::WatchedThrough::folder || failure.cause == Cause::failed;
    return seen ? tick : account_limit_of_hosts;
  }

  void end_ranks() {
    ended_by_us_ = true;
    watch_->kill_ranks();  // they leave SIGTERM to us
    if (job_.watched == record::WatchedThrough::output) processes_.signal_launcher(SIGTERM);
    await_launcher(account_limit);
  }

  Outcome interrupted() {
    watch_->kill_ranks();  // they leave SIGTERM to us
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
      return Outcome{Outcome::End::finished, {}, watch_->exit_code()};
    if (exit.well() && all_in(record::RankState::checkpointed))
      return Outcome{Outcome::End::checkpointed, {}};
    if (exit.signal != 0) return blame_launcher(exit);
    if (auto failure = first_failure(seen, job_.start_limit)) {
      settle_who_died_first(*failure, seen);
      complete(*failure);
      return Outcome{Outcome::End::failed, std::move(failure)};
    }
    if (const auto notice = parse_notice(job_.launcher, own_output_)) return noticed(*notice);
    if (nobody_started())
      return cpplan::failure(fmt::format("{} did not start the ranks (it {}): {}",
                                         name_of(job_.launcher), describe(exit), own_output_));
    return blame_launcher(exit);
  }

  Outcome blame_launcher(const Exit& exit) {
    RankFailure failure{.cause = Cause::launcher,
                        .rank = {},
                        .status = {},
                        .exit = exit,
                        .last_words = {},
                        .launcher = job_.launcher};
    return {Outcome::End::failed, std::move(failure)};
  }

  /// A rank of which mpirun alone knows: it ended before its first word, or after its last.
  Outcome noticed(const Notice& notice) {
    RankFailure failure{.cause = Cause::died,
                        .rank = notice.rank,
                        .status = {},
                        .exit = notice.exit,
                        .last_words = {}};
    if (is_rank(notice.rank))
      failure.status = view(notice.rank).status.value_or(record::RankStatus{});
    complete(failure);
    return {Outcome::End::failed, std::move(failure)};
  }

  /// Several were gone at one look: mpirun saw which went first, also where that one never came to
  /// its first word.
  void settle_who_died_first(RankFailure& failure, const std::vector<RankView>& seen) const {
    const auto notice = parse_notice(job_.launcher, own_output_);
    if (!notice || !is_rank(notice->rank) || failure.cause == Cause::failed) return;
    const RankView& first = seen[static_cast<std::size_t>(notice->rank)];
    if (!went_first(first, failure)) return;
    failure.cause = Cause::died;
    failure.rank = notice->rank;
    failure.status = first.status.value_or(record::RankStatus{});
    failure.last_words = failure.status.last_words;
  }

  /// Of ranks on other hosts we see neither that they are gone nor when: the launcher's word
  /// counts, unless it tells of our own signals or of a rank that has told more itself.
  bool went_first(const RankView& rank, const RankFailure& failure) const {
    if (job_.watched == record::WatchedThrough::folder)
      return failure.cause == Cause::died && (!rank.status || rank.life == Life::gone);
    const bool spoke = rank.status && rank.status->state == record::RankState::failed;
    return !ended_by_us_ && !spoke;
  }

  /// How it ended, from mpirun's account; last words, from what it printed.
  void complete(RankFailure& failure) const {
    const auto notice = parse_notice(job_.launcher, own_output_);
    const bool ended = failure.cause == Cause::died;
    if (ended && notice && notice->rank == failure.rank) failure.exit = notice->exit;
    if (failure.last_words.empty() && failure.rank && is_rank(*failure.rank))
      failure.last_words = last_lines_[static_cast<std::size_t>(*failure.rank)];
  }

  bool all_in(record::RankState state) const {
    return std::ranges::all_of(
        views(), [&](const RankView& rank) { return rank.status && rank.status->state == state; });
  }

  bool nobody_started() const {
    return std::ranges::none_of(views(),
                                [](const RankView& rank) { return rank.status.has_value(); });
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
      await_launcher(term_limit());
    }
    processes_.signal_launcher(SIGKILL);
    await_launcher(term_limit());
    look_at_ranks();  // some may have come up in the meantime
    watch_->kill_ranks();
    const Seconds end = processes_.now() + term_limit();
    while (watch_->any_rank_lives() && processes_.now() < end) pass_output_on(tick / 5);
  }

  /// Daemons on other hosts are told to end first, and take a second for it.
  Seconds term_limit() const {
    return job_.watched == record::WatchedThrough::output ? Seconds(2) : Seconds(0.5);
  }

  Processes& processes_;
  const Supervision& job_;
  const Listener& listener_;
  std::unique_ptr<RankWatch> watch_;
  std::vector<std::string> last_lines_;  // that ranks wrote to their standard error
  std::string own_output_;
  bool request_passed_on_ = false;
  bool ended_by_us_ = false;
};

}  // namespace

Result<Outcome> supervise(Processes& processes, const Command& command, const Supervision& job,
                          const Listener& listener) {
  return Supervisor(processes, job, listener).run(command);
}

}  // namespace cpplan::launch
