#include "launch/rank_watch.hpp"

#include <utility>

namespace cpplan::launch {
namespace {

class FolderWatch final : public RankWatch {
 public:
  FolderWatch(Processes& processes, int world, record::RunFolder folder)
      : RankWatch(processes, world), folder_(std::move(folder)), changed_(ranks_.size()) {}

  void look() override {
    for (std::size_t i = 0; i < ranks_.size(); ++i) look_at(ranks_[i], changed_[i], i);
  }
  bool take(int, const std::string&) override { return false; }
  int exit_code() const override { return 0; }

 private:
  void look_at(RankView& rank, Seconds& changed, std::size_t number) {
    const auto path = folder_.status_file(static_cast<int>(number));
    auto status = record::read_rank_status(path);
    if (!status) return;
    rank.life = life_of(*status);
    // A rank may have finished between the two looks; gone counts only with what it said last.
    if (rank.life == Life::gone) status = record::read_rank_status(path);
    if (!status) return;
    const bool moved = !rank.status || rank.status->updates != status->updates;
    if (moved) changed = processes_.now();
    rank.unchanged = processes_.now() - changed;
    rank.status = *status;
  }
  bool reachable(const record::RankStatus&) const override { return true; }

  record::RunFolder folder_;
  std::vector<Seconds> changed_;  // when an entry last did
};

class OutputWatch final : public RankWatch {
 public:
  OutputWatch(Processes& processes, int world, std::string host)
      : RankWatch(processes, world), host_(std::move(host)), times_(ranks_.size()) {}

  bool take(int rank, const std::string& line) override {
    auto report = record::parse_report(line);
    if (!report) return false;
    const auto i = static_cast<std::size_t>(rank);
    const auto& known = ranks_[i].status;
    times_[i].heard = processes_.now();
    if (!known || known->updates != report->status.updates) times_[i].changed = processes_.now();
    ranks_[i].status = std::move(report->status);
    if (report->exit_code != 0) exit_code_ = report->exit_code;
    return true;
  }

  void look() override {
    const Seconds now = processes_.now();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!ranks_[i].status) continue;
      ranks_[i].unchanged = now - times_[i].changed;
      ranks_[i].life = life(*ranks_[i].status, times_[i], now);
    }
  }
  int exit_code() const override { return exit_code_; }

 private:
  struct Times {
    Seconds heard{}, changed{};
    Seconds lived{};  // when a process of this host was last seen
  };
  /// A rank speaks once a second, and a machine that is busy may keep it waiting for some.
  static constexpr Seconds silence{4};
  /// The last words of a process arrive after its end.
  static constexpr Seconds on_its_way{1};

  Life life(const record::RankStatus& status, Times& times, Seconds now) const {
    if (!reachable(status)) return now - times.heard > silence ? Life::silent : Life::running;
    const Life seen = life_of(status);
    if (seen != Life::gone) times.lived = now;
    return seen == Life::gone && now - times.lived < on_its_way ? Life::running : seen;
  }
  bool reachable(const record::RankStatus& status) const override { return status.host == host_; }

  std::string host_;
  std::vector<Times> times_;
  int exit_code_ = 0;
};

}  // namespace

void RankWatch::kill_ranks() {
  for (const RankView& rank : ranks_)
    if (rank.status && reachable(*rank.status))
      processes_.kill_rank(rank.status->pid, rank.status->start_ticks);
}

bool RankWatch::any_rank_lives() const {
  for (const RankView& rank : ranks_)
    if (rank.status && reachable(*rank.status) && life_of(*rank.status) != Life::gone) return true;
  return false;
}

std::unique_ptr<RankWatch> watch_folder(Processes& processes, int world, record::RunFolder folder) {
  return std::make_unique<FolderWatch>(processes, world, std::move(folder));
}

std::unique_ptr<RankWatch> watch_output(Processes& processes, int world, std::string host) {
  return std::make_unique<OutputWatch>(processes, world, std::move(host));
}

}  // namespace cpplan::launch
