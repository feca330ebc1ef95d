#include "plan/simulated_world.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/groups.hpp"
#include "plan/rank_classes.hpp"

namespace cpplan::plan {
namespace {
using layout::Coordinates;
using layout::Dim;

constexpr Index most_sharing_ranks = 1024;

class SimulatedWorld {
 public:
  SimulatedWorld(const engine::Job& job, const cluster::HardwareProfile& profile, bool every_rank,
                 bool every_cp_rank)
      : job_(job),
        ranks_(job.dims, job.order),
        devices_per_node_(profile.network ? static_cast<int>(profile.devices_per_node)
                                          : ranks_.world()),
        every_rank_(every_rank),
        every_cp_rank_(every_cp_rank),
        index_(static_cast<std::size_t>(ranks_.world()), none) {
    for (int rank = 0; rank < ranks_.world(); ++rank) {
      if (representative(rank) != rank) continue;
      index_[static_cast<std::size_t>(rank)] = static_cast<int>(simulated_.size());
      simulated_.push_back(rank);
    }
  }

  std::vector<SimulatedRank> build(const engine::Documents& documents) const {
    std::vector<SimulatedRank> result;
    const double like_it =
        static_cast<double>(ranks_.world()) / static_cast<double>(simulated_.size());
    for (const int rank : simulated_)
      result.push_back({engine::trace_step(job_, ranks_.coordinates(rank), documents),
                        groups_of(rank), like_it});
    return result;
  }

 private:
  static constexpr int none = -1;

  int representative(int rank) const {
    if (every_rank_) return rank;
    Coordinates at = ranks_.coordinates(rank);
    at[Dim::tp] = at[Dim::dp] = at[Dim::ep] = 0;
    if (!every_cp_rank_) at[Dim::cp] = 0;
    return ranks_.rank(at);
  }
  int index(int rank) const { return index_[static_cast<std::size_t>(representative(rank))]; }
  int node(int rank) const { return rank / devices_per_node_; }

  std::map<int, SimulatedGroup> groups_of(int rank) const {
    std::map<int, SimulatedGroup> groups;
    for (const auto& named : comm::named_groups(ranks_, rank, engine::group_settings(job_)))
      groups.emplace(named.number, simulated(named, rank));
    return groups;
  }

  SimulatedGroup simulated(const comm::NamedGroup& named, int rank) const {
    SimulatedGroup group;
    const int size = named.group.size();
    int neighbours = 0;
    for (int i = 0; i < size; ++i) {
      const int member = named.group.rank(i);
      group.members.push_back(index(member));
      neighbours += node(member) == node(rank);
    }
    group.one_node = neighbours == size;
    group.members_of_node = neighbours;
    for (int i = 0; i < size; ++i) {
      const int member = named.group.rank(i);
      const bool itself = representative(member) == member;
      group.same_node.push_back(itself ? node(member) == node(rank) : group.one_node);
    }
    group.participants = group.members;
    auto& ones = group.participants;
    std::sort(ones.begin(), ones.end());
    ones.erase(std::unique(ones.begin(), ones.end()), ones.end());
    group.id = named.number * ranks_.world() + group.participants.front();
    return group;
  }

  const engine::Job& job_;
  layout::Ranks ranks_;
  int devices_per_node_;
  bool every_rank_, every_cp_rank_;
  std::vector<int> index_;      // by rank: its number among the simulated ones, or none
  std::vector<int> simulated_;  // ranks
};

}  // namespace

Result<std::vector<SimulatedRank>> simulated_ranks(const engine::Job& job,
                                                   const engine::Documents& documents,
                                                   const cluster::HardwareProfile& profile) {
  const bool every_rank = profile.cores && job.dims.world() > *profile.cores;
  if (every_rank && job.dims.world() > most_sharing_ranks)
    return failure(fmt::format(
        "the time of {} ranks on {} cores is not simulated (only that of up to {} is). name a GPU "
        "under cpplan.cluster.gpu",
        job.dims.world(), *profile.cores, most_sharing_ranks));
  const bool every_cp_rank = !cp_ranks_work_alike(job, documents);
  return SimulatedWorld(job, profile, every_rank, every_cp_rank).build(documents);
}

}  // namespace cpplan::plan
