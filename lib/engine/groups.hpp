#pragma once
// The groups of a rank, as the engine speaks to them.
#include "comm/transports.hpp"
#include "engine/job.hpp"
#include "engine/layer.hpp"

namespace cpplan::engine {

/// How the job cuts the groups within CP and DP.
inline comm::GroupSettings group_settings(const Job& job) {
  return {.cp_inner = job.context_parallel.inner_size,
          .dp_replicate = job.data_parallel.replicate,
          .kv_copies = kv_copies(job.model, job.dims)};
}

/// `set` outlives what is returned.
inline Groups groups_of(const comm::GroupSet& set) {
  return {*set.tp,           *set.cp,          *set.cp_inner,  *set.cp_outer,
          *set.pp_forward,   *set.pp_backward, *set.dp_cp,     *set.dp_shard_cp,
          *set.dp_replicate, *set.tp_kv,       *set.embedding, *set.world};
}

}  // namespace cpplan::engine
