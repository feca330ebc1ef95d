#pragma once
// The groups of a rank, as the engine speaks to them.
#include "comm/transports.hpp"
#include "engine/layer.hpp"

namespace cpplan::engine {

/// `set` outlives what is returned.
inline Groups groups_of(const comm::GroupSet& set) {
  return {*set.tp,         *set.cp,          *set.cp_inner, *set.cp_outer,
          *set.pp_forward, *set.pp_backward, *set.dp_cp,    *set.world};
}

}  // namespace cpplan::engine
