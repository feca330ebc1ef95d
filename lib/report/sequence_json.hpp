#pragma once
// Which tokens of a sequence each context-parallel rank holds, in the framework and in our engine.
#include "base/json.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// {framework_layout, engine_layout, padded_len, tokens_per_rank, pad_tokens}, lengths by kind,
/// and, for sequences of at most 1,024 tokens, lists of the tokens of each rank under the kind's
/// name.
Json sequence_json(const plan::Plan& plan);

}  // namespace cpplan::report
