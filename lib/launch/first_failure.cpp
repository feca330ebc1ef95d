#include "launch/first_failure.hpp"

#include <fmt/format.h>

#include "diag/rule_table.hpp"

namespace cpplan::launch {
namespace {
using record::RankState;
using record::RankStatus;

/// The launcher speaks up after the ranks' own deadlines, so that their words can be used.
constexpr Seconds grace{0.5};

bool alive_by_its_word(const RankView& rank) {
  if (!rank.status) return false;
  const RankState state = rank.status->state;
  return state != RankState::finished && state != RankState::checkpointed &&
         state != RankState::failed;
}

bool died(const RankView& rank) {
  return alive_by_its_word(rank) && rank.life == Life::gone;
}

/// Before it met the others: none of them can have been the reason, and mpirun ends them for it.
bool refused(const RankView& rank) {
  return rank.status && rank.status->state == RankState::failed &&
         rank.status->operation == record::before_start;
}

bool failed(const RankView& rank) {
  return rank.status && rank.status->state == RankState::failed;
}

/// The entry names a group only while the rank waits for its peers.
bool was_waiting(const RankView& rank) {
  return rank.status && !rank.status->group.empty();
}

bool unchanged_for_long(const RankView& rank, Seconds default_limit) {
  const double own = rank.status->limit_seconds;
  return rank.unchanged > (own > 0 ? Seconds(own) : default_limit) + grace;
}

bool stale(const RankView& rank, Seconds default_limit) {
  return alive_by_its_word(rank) && unchanged_for_long(rank, default_limit);
}

template <class Test>
const RankView* find(std::span<const RankView> ranks, Test&& test) {
  for (const RankView& rank : ranks)
    if (test(rank)) return &rank;
  return nullptr;
}

/// When all have done their work: a process that should have gone and is still there.
const RankView* lingering(std::span<const RankView> ranks, Seconds default_limit) {
  const auto at_work = [](const RankView& r) { return !r.status || alive_by_its_word(r); };
  if (find(ranks, at_work)) return nullptr;
  return find(ranks, [&](const RankView& r) {
    const bool is_there = r.life == Life::running || r.life == Life::stopped;
    return is_there && unchanged_for_long(r, default_limit);
  });
}

/// Of those that neither wait nor have failed: the one that has not moved for longest.
const RankView* least_moved(std::span<const RankView> ranks) {
  const RankView* result = nullptr;
  for (const RankView& rank : ranks)
    if (alive_by_its_word(rank) && !was_waiting(rank) &&
        (!result || rank.unchanged > result->unchanged))
      result = &rank;
  return result;
}

RankFailure blame(Cause cause, const RankView& rank) {
  return {.cause = cause,
          .rank = rank.status->rank,
          .status = *rank.status,
          .exit = {},
          .last_words = rank.status->last_words};
}

/// A rank that has not said anything yet, while others have been waiting for it.
RankFailure blame_silent(int rank) {
  return {.cause = Cause::stuck, .rank = rank, .status = {}, .exit = {}, .last_words = {}};
}

/// Somebody has waited too long: for whom?
std::optional<RankFailure> behind_the_wait(std::span<const RankView> ranks,
                                           const RankView& witness) {
  const auto stopped = [](const RankView& r) { return r.status && r.life == Life::stopped; };
  const auto unheard = [](const RankView& r) { return !r.status; };
  const auto silent = [](const RankView& r) {
    return alive_by_its_word(r) && r.life == Life::silent;
  };
  if (const auto* rank = find(ranks, stopped)) return blame(Cause::stopped, *rank);
  if (const auto* rank = find(ranks, unheard))
    return blame_silent(static_cast<int>(rank - ranks.data()));
  if (const auto* rank = find(ranks, silent)) return blame(Cause::silent, *rank);
  if (const auto* rank = least_moved(ranks)) return blame(Cause::stuck, *rank);
  return blame(Cause::waited, witness);
}

std::string_view verb(Cause cause) {
  switch (cause) {
    case Cause::died:
      return "ended before its work was done";
    case Cause::failed:
      return "failed";
    case Cause::stopped:
      return "was stopped (by a debugger or SIGSTOP) while the others waited";
    case Cause::silent:
      return "has not been heard from while the others waited";
    case Cause::stuck:
      return "stopped making progress while the others waited";
    case Cause::waited:
      return "waited too long for the other ranks of its group";
    case Cause::launcher:
      return "ended before its ranks";
  }
  return "";
}

std::string place_in_step(const RankStatus& status) {
  if (status.step == 0 && status.group.empty()) return "before step 1";
  if (status.step == 0) return fmt::format("before step 1, {}", status.operation);
  if (status.group.empty()) return fmt::format("in step {}, {}", status.step, status.operation);
  return fmt::format("in step {}, {} of group {}", status.step, status.operation, status.group);
}

std::string headline(const RankFailure& failure, int world) {
  const std::string how = failure.exit ? describe(*failure.exit) : std::string(verb(failure.cause));
  if (!failure.rank)
    return fmt::format("{} {}; all {} ranks were stopped", name_of(failure.launcher), how, world);
  const RankStatus& status = failure.status;
  const std::string where =
      status.pid == 0 ? "before it could say where" : fmt::format("{}", place_in_step(status));
  const std::string who =
      status.pid == 0 ? fmt::format("rank {}", *failure.rank)
                      : fmt::format("rank {} ({}, pid {})", *failure.rank, status.host, status.pid);
  const std::string rest = world == 1 ? "" : fmt::format("; the other {} were stopped", world - 1);
  return fmt::format("{} {} {}{}", who, how, where, rest);
}

std::string why(Cause cause) {
  switch (cause) {
    case Cause::died:
      return "a process that is gone can no longer take part in a step, so no rank can finish it";
    case Cause::failed:
      return "what a rank cannot do, the step as a whole cannot do";
    case Cause::silent:
      return "its process is stopped, or its host or the way to it is lost";
    case Cause::stopped:
    case Cause::stuck:
    case Cause::waited:
      return "a wait longer than the limit means that a peer will not come";
    case Cause::launcher:
      return "without it the ranks can neither speak nor end in order";
  }
  return "";
}

std::vector<std::string> help(const RankFailure& failure) {
  if (failure.cause == Cause::stopped)
    return {fmt::format("`kill -CONT {}` would have let it go on; --timeout 3600 waits longer",
                        failure.status.pid)};
  if (failure.cause == Cause::stuck || failure.cause == Cause::waited)
    return {"--timeout 3600 waits longer, if the machine is only slow"};
  if (failure.exit && failure.exit->signal == 9)
    return {"`dmesg` tells whether the kernel killed it for memory; then --shrink makes it fit"};
  return {};
}

}  // namespace

std::optional<RankFailure> first_failure(std::span<const RankView> ranks, Seconds default_limit) {
  if (const auto* rank = find(ranks, refused)) return blame(Cause::failed, *rank);
  if (const auto* rank = find(ranks, died)) return blame(Cause::died, *rank);
  if (const auto* rank =
          find(ranks, [](const RankView& r) { return failed(r) && !was_waiting(r); }))
    return blame(Cause::failed, *rank);
  if (const auto* rank = find(ranks, failed)) return behind_the_wait(ranks, *rank);
  const auto overdue = [&](const RankView& r) { return stale(r, default_limit); };
  if (const auto* rank = find(ranks, overdue)) return behind_the_wait(ranks, *rank);
  if (const auto* rank = lingering(ranks, default_limit))
    return blame(rank->life == Life::stopped ? Cause::stopped : Cause::stuck, *rank);
  return {};
}

diag::Diagnostic to_diagnostic(const RankFailure& failure, int world) {
  diag::Details details{.why = why(failure.cause), .help = help(failure)};
  if (!failure.last_words.empty())
    details.related.push_back({"last words: " + failure.last_words, {}});
  return diag::finding("CP511", {}, headline(failure, world), std::move(details));
}

}  // namespace cpplan::launch
