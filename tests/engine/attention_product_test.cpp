// The same in every combination of all axes.
#include "engine/attention_check.hpp"

namespace cpplan::test {

TEST_CASE("attention: every case that can run") {
  for (const AttentionCase& c : all_attention_cases()) check_attention(c);
}

}  // namespace cpplan::test
