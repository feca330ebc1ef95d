#pragma once
// The layers of one virtual stage of the pipeline, between what comes from the one before and what
// goes to the next one. Says which parameters are needed when, and when gradients are complete.
#include <optional>
#include <vector>

#include "engine/embedding_layer.hpp"
#include "engine/gradient_reduction.hpp"
#include "engine/loss_head.hpp"
#include "engine/parameter_gathering.hpp"
#include "engine/recomputable.hpp"
#include "engine/transformer_block.hpp"

namespace cpplan::engine {

/// What moves the parameters and gradients of units between ranks.
struct UnitTraffic {
  ParameterGathering& parameters;
  GradientReduction& gradients;
};

class Stage {
 public:
  struct Saved {
    Tensor input, output;  // [local rows, h]
    std::vector<Recomputable<TransformerBlock>::Saved> blocks;
  };

  /// `number`: of the virtual stages, in the order of the layers. `traffic` outlives it.
  Stage(const Job&, int number, const ParameterStore&, UnitTraffic traffic);

  bool first() const { return embedding_.has_value(); }
  bool last() const { return head_.has_value(); }
  /// Rows of the residual stream here, of `rows` of the CP rank.
  Index local_rows(Index rows) const { return tp_.local_rows(rows); }

  /// saved.input: made by the caller, filled with what the stage before sent; the first stage fills
  /// it itself. Makes saved.output.
  void forward(Step&, Saved&) const;
  /// grad: dL/d(output), overwritten first where the stage is the last; leaves as dL/d(input).
  /// loss f64 [1, 2] is added to by the last stage.
  void backward(Step&, Tensor grad, Tensor loss, Saved&, Accumulation) const;

 private:
  void add_head(const Job&, const ParameterStore&);
  void head_backward(Step&, Tensor grad, Tensor loss, Saved&, Accumulation) const;
  void embedding_backward(Step&, Tensor grad, Accumulation) const;
  void prefetch_after(std::size_t block) const;

  TensorParallel tp_;
  UnitTraffic traffic_;
  Index first_layer_;
  std::optional<EmbeddingLayer> embedding_;
  std::vector<Recomputable<TransformerBlock>> blocks_;
  std::optional<LossHead> head_;
  std::size_t embedding_unit_ = 0;
  std::vector<std::size_t> block_units_, head_units_;
};

}  // namespace cpplan::engine
