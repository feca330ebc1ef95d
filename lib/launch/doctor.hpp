#pragma once
// What a machine or an allocation has for a run, and what is wrong with it. Pure.
#include <string>
#include <string_view>
#include <vector>

#include "cluster/environment.hpp"
#include "cluster/site.hpp"

namespace cpplan::launch {

/// problem: `cpplan run` cannot start, or would fail. concern: it runs, and worse than it could.
enum class Health : std::uint8_t { good, concern, problem };
std::string_view name_of(Health);

struct Examined {
  std::string what;  // "MPI"
  Health health = Health::good;
  std::string found;  // "mpirun (Open MPI) 4.1.4"
  std::string help;   // what to do; empty where nothing is to be done
};

/// In the order of a page: machine, MPI, launcher, GPUs, shared memory, limits. Contradictions of
/// the environment are findings of its own (Environment::findings).
std::vector<Examined> examine(const cluster::Site&, const cluster::Environment&);

}  // namespace cpplan::launch
