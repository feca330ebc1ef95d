#pragma once
// A tiny model that any layout of the original can still train, for `--shrink`: a config for a
// cluster is then exercised on a laptop.
#include "model/model_spec.hpp"

namespace cpplan::model {

/// What the tiny model must still divide by; each at least 1.
struct Divisors {
  Index tensor_parallel = 1, pipeline_parallel = 1;
};

/// The same whenever the arguments are the same:
///   vocab_size           256, the bytes
///   num_hidden_layers    one a pipeline stage, at least 2
///   num_key_value_heads  one a TP rank, at least 2
///   num_attention_heads  twice as many where the original groups queries, else as many
///   head_dim             16
///   intermediate_size    in the original's ratio to hidden_size, a multiple of 8 on each TP rank
/// Everything else is the original's.
ModelSpec shrink(const ModelSpec&, const Divisors&);

}  // namespace cpplan::model
