#include "model/shrink.hpp"

#include <algorithm>

#include "base/contract.hpp"

namespace cpplan::model {

ModelSpec shrink(const ModelSpec& original, const Divisors& divisors) {
  const Index tp = divisors.tensor_parallel, pp = divisors.pipeline_parallel;
  expect(tp >= 1 && pp >= 1, "degrees are at least 1");
  const bool grouped = original.num_key_value_heads < original.num_attention_heads;
  const double ratio = static_cast<double>(original.intermediate_size) /
                       static_cast<double>(std::max<Index>(1, original.hidden_size));

  ModelSpec tiny = original;
  tiny.name = original.name + " (shrunk)";
  tiny.vocab_size = 256;
  tiny.num_hidden_layers = std::max<Index>(2, pp);
  tiny.num_key_value_heads = std::max<Index>(2, tp);
  tiny.num_attention_heads = tiny.num_key_value_heads * (grouped ? 2 : 1);
  tiny.head_dim = 16;
  tiny.hidden_size = tiny.num_attention_heads * tiny.head_dim;
  const auto wanted = static_cast<Index>(ratio * static_cast<double>(tiny.hidden_size));
  tiny.intermediate_size = round_up(std::max<Index>(1, wanted), 8 * tp);
  return tiny;
}

}  // namespace cpplan::model
