#pragma once
// Whether a run fits this machine, decided before any rank starts: a machine that runs out of
// memory kills whom it likes. Pure.
#include <optional>

#include "base/result.hpp"
#include "base/units.hpp"

namespace cpplan::launch {

/// What every process needs apart from its arenas: code, libraries, the transport's segments.
/// Measured on Debian 12 with Open MPI 4.1, eight ranks of a model that weighs nothing: 30 MB
/// resident at most (VmHWM), and room for the 4 MiB segment through which a rank of this host is
/// reached.
inline constexpr Bytes process_overhead{36 << 20};

struct MemoryDemand {
  int world = 1;
  Bytes of_arenas;  // of all ranks together
  Bytes total() const { return of_arenas + world * process_overhead; }
};

/// Error where `demand` is more than `available`; it names what --shrink would need. `shrunk`: the
/// arenas of all ranks with it; none where the run is shrunk already.
Result<void> check_memory(const MemoryDemand& demand, Bytes available, std::optional<Bytes> shrunk);

}  // namespace cpplan::launch
