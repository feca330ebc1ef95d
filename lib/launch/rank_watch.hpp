#pragma once
// Where the supervisor learns what its ranks do: from their entries in a folder of this host, or
// from what ranks on any host report in their output.
#include <memory>
#include <string>
#include <vector>

#include "launch/first_failure.hpp"
#include "launch/process.hpp"
#include "record/rank_report.hpp"
#include "record/run_folder.hpp"

namespace cpplan::launch {

class RankWatch {
 public:
  RankWatch(Processes& processes, int world)
      : processes_(processes), ranks_(static_cast<std::size_t>(world)) {}
  virtual ~RankWatch() = default;

  /// Brings the views up to date.
  virtual void look() = 0;
  /// A line that a rank printed: was it a report?
  virtual bool take(int rank, const std::string& line) = 0;
  /// What the run came to, as far as ranks report it.
  virtual int exit_code() const = 0;

  const std::vector<RankView>& views() const { return ranks_; }
  /// Those whose processes are ours to end; a launcher ends the others.
  void kill_ranks();
  bool any_rank_lives() const;

 protected:
  virtual bool reachable(const record::RankStatus&) const = 0;
  Life life_of(const record::RankStatus& status) const {
    return processes_.life(status.pid, status.start_ticks);
  }

  Processes& processes_;
  std::vector<RankView> ranks_;
};

std::unique_ptr<RankWatch> watch_folder(Processes&, int world, record::RunFolder);
/// `host`: the name of ours, as ranks on it report it.
std::unique_ptr<RankWatch> watch_output(Processes&, int world, std::string host);

}  // namespace cpplan::launch
