#include "train/saving.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <thread>

#include "train/measure.hpp"

namespace cpplan::train {
namespace {

/// Of rank 0, which no other run has: when it began, and as which process.
std::string name_of_run(const Rank& rank) {
  const std::vector mine = {static_cast<double>(std::time(nullptr)),
                            static_cast<double>(::getpid())};
  const auto all = gather(mine, rank);
  return fmt::format("{:%Y%m%d-%H%M%S}-{}", fmt::gmtime(static_cast<std::time_t>(all[0])), all[1]);
}

}  // namespace

Saving::Saving(const TrainingRun& run, const Rank& rank, const StepLimit& limit,
               StepObserver& observer, std::span<const engine::Parameter> parameters)
    : run_(run), rank_(rank), limit_(limit), observer_(observer) {
  if (!run.checkpoints) return;
  checkpointer_.emplace(run, rank, observer, name_of_run(rank), parameters);
  gather_votes_.emplace(rank, 1);
}

engine::Votes Saving::votes() {
  if (!checkpointer_) return {};
  return {.stop = observer_.stop_requested() ? 1.0 : 0.0, .done = checkpointer_->vote()};
}

Saving::Next Saving::after(Index step, const engine::Votes& votes) {
  if (!checkpointer_) return Next::go_on;
  const comm::Ledger before = rank_.endpoint.posted();
  checkpointer_->count(votes);
  add_posted_since(before);
  const bool last = step == run_.steps, asked = votes.stop > 0;
  if (asked || checkpointer_->due(step)) {
    wait_until_saved();  // a disk that is slower than the interval
    checkpointer_->begin(step, rank_.ops);
  }
  if (asked || last) wait_until_saved();
  return asked && !last ? Next::stop : Next::go_on;
}

void Saving::wait_until_saved() {
  const comm::Ledger before = rank_.endpoint.posted();
  while (!checkpointer_->idle()) {
    observer_.saving(limit_);
    const std::vector mine = {checkpointer_->vote()};
    engine::Votes votes;
    for (const double done : (*gather_votes_)(mine)) votes.done += done;
    checkpointer_->count(votes);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  add_posted_since(before);
}

void Saving::add_posted_since(const comm::Ledger& before) {
  for (const auto& [key, sent] : difference(rank_.endpoint.posted(), before)) {
    posted_[key].bytes += sent.bytes;
    posted_[key].messages += sent.messages;
  }
}

}  // namespace cpplan::train
