#pragma once
// What a model says of a text that it is not trained on: forward alone, on one rank.
#include <vector>

#include "engine/gradient_reduction.hpp"
#include "engine/micro_batch.hpp"
#include "engine/parameter_gathering.hpp"
#include "engine/stage.hpp"
#include "engine/trainer.hpp"

namespace cpplan::engine {

struct Evaluation {
  double loss = 0;            // mean over the labelled tokens
  Index tokens = 0;           // labelled ones
  std::vector<float> logits;  // [rows, vocab_size], row-major
};

class Evaluator {
 public:
  /// Draws initial weights, to be set from outside. Contract: the job is of one rank, of one
  /// micro-batch, in fp32 and without dropout. `ops` outlives it.
  Evaluator(kernels::Ops& ops, const Groups& groups, const Job& job);

  std::span<const Parameter> parameters() const { return owned_; }
  /// Contract: the micro-batch fits the job's capacity.
  Evaluation evaluate(const MicroBatch&);

 private:
  Tensor logits_of(Step&, Tensor hidden) const;
  void add_loss(Step&, Tensor logits, Tensor loss) const;

  kernels::Ops& ops_;
  const Groups& groups_;
  const Job job_;
  MemoryPlan memory_;
  kernels::Arena parameters_, gradients_, states_, gathered_, saved_, scratch_, rebuilt_, inputs_;
  ParameterStore store_;
  std::vector<Parameter> owned_;
  ParameterGathering gathering_;
  GradientReduction reduction_;
  Stage stage_;
  InputSlot slot_;
};

}  // namespace cpplan::engine
