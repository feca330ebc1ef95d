#pragma once
// The layers of one virtual stage of the pipeline, between what comes from the one before and what
// goes to the next one.
#include <optional>
#include <vector>

#include "engine/embedding_layer.hpp"
#include "engine/loss_head.hpp"
#include "engine/recomputable.hpp"
#include "engine/transformer_block.hpp"

namespace cpplan::engine {

class Stage {
 public:
  struct Saved {
    Tensor input, output;  // [local rows, h]
    std::vector<Recomputable<TransformerBlock>::Saved> blocks;
  };

  /// `number`: of the virtual stages, in the order of the layers.
  Stage(const Job&, int number, const ParameterStore&);

  bool first() const { return embedding_.has_value(); }
  bool last() const { return head_.has_value(); }
  /// Rows of the residual stream here, of `rows` of the CP rank.
  Index local_rows(Index rows) const { return tp_.local_rows(rows); }

  /// saved.input: made by the caller, filled with what the stage before sent; the first stage fills
  /// it itself. Makes saved.output.
  void forward(Step&, Saved&) const;
  /// grad: dL/d(output), overwritten first where the stage is the last; leaves as dL/d(input).
  /// loss f64 [1, 2] is added to by the last stage.
  void backward(Step&, Tensor grad, Tensor loss, Saved&) const;

 private:
  TensorParallel tp_;
  std::optional<EmbeddingLayer> embedding_;
  std::vector<Recomputable<TransformerBlock>> blocks_;
  std::optional<LossHead> head_;
};

}  // namespace cpplan::engine
