#pragma once
// What all ranks must know of a step before the optimizer moves: the loss, the number of labelled
// tokens and the gradient norm. One all-reduce over the world carries them in slots that one rank
// each fills, so the sums are taken in one order under every layout.
#include <optional>
#include <span>
#include <vector>

#include "engine/layer.hpp"
#include "engine/parameters.hpp"

namespace cpplan::engine {

/// Counts that ranks bring to a step and that all of them learn in it: sums over the world. The
/// engine gives them no meaning.
struct Votes {
  double stop = 0;  // ranks that want the run to end after this step
  double done = 0;  // ranks that are done with what they do beside training
};

/// The first value of a step that is not finite, and whether this rank brought it.
struct NonFinite {
  enum class Kind : std::uint8_t { loss, gradient } kind = Kind::loss;
  Index slot = 0;  // of the gradient's tensor
  bool mine = false;
};

struct StepSummary {
  double loss_sum = 0, tokens = 0;
  Votes votes;
  std::vector<double> squared_norms;  // by tensor, of the gradients of the loss sum
  std::optional<NonFinite> non_finite;
};

class Control {
 public:
  Control(kernels::Ops&, const Groups&, const Job&, const layout::Coordinates&,
          kernels::Arena& control);

  /// f64 [1, 2]: (sum of losses, labelled tokens) of this rank; the pipeline adds to it.
  Tensor loss() const { return loss_; }
  void begin_step();
  /// After the gradients are summed over DP x CP (and TP where they were partial).
  StepSummary exchange(std::span<const Parameter>, const Votes& mine);

 private:
  Index norm_index(const Parameter&) const;
  Index loss_index() const;
  Tensor norm_slot(const Parameter& p) const { return board_.col_range(norm_index(p), 1); }
  Tensor loss_slot() const { return board_.col_range(loss_index(), 2); }
  Tensor vote_slots() const { return board_.col_range(norm_slots_ + loss_slots_, vote_slots_); }
  bool counts_loss() const;
  StepSummary read() const;
  std::optional<NonFinite> non_finite(std::span<const Parameter>) const;

  kernels::Ops& ops_;
  const Groups& groups_;
  const Job& job_;
  layout::Coordinates at_;
  Index parts_;  // of a tensor: TP slices, each in its shards
  Index norm_slots_, loss_slots_;
  Index vote_slots_;     // none where the ranks do nothing beside training
  Tensor loss_, board_;  // board f64 [1, norm slots + loss slots + votes]
  std::vector<double> host_;
};

}  // namespace cpplan::engine
