#pragma once
// Before the first message of training, all ranks make sure that they are about to train the same
// run: from the same files, flags and program.
#include <optional>
#include <span>

#include "comm/mpi.hpp"
#include "train/run_facts.hpp"

namespace cpplan::train {

/// What a rank is about to train, and where it is.
struct Testimony {
  std::string host;
  Facts facts;
};

/// The rank that is about to train another run than most, and a message that names it, one of the
/// others, and the first value in which they differ.
struct Disagreement {
  int rank = 0;
  std::string words;
};

/// Of all ranks, in their order; nothing where they agree. Pure.
std::optional<Disagreement> disagreement(std::span<const Testimony> ranks);

/// Which build of the program this is: its version, and the linker's build id where it has one.
std::string build_of_program();

/// Called by all ranks together; costs one all-reduce of 16 bytes where they agree. Throws Failure
/// on all of them where they do not: to the others than the named one it is none of their doing.
void agree_on(const Facts& facts, comm::MpiWorld& world, kernels::Trace& trace);

}  // namespace cpplan::train
