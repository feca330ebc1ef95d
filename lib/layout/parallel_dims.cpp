#include "layout/parallel_dims.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>
#include <utility>

#include "base/checked.hpp"

namespace cpplan::layout {

Result<ParallelDims> make_parallel_dims(Index tp, Index cp, Index pp, Index dp,
                                        bool sequence_parallel) {
  const std::pair<std::string_view, Index> degrees[] = {
      {"tp", tp}, {"cp", cp}, {"pp", pp}, {"dp", dp}};
  for (const auto& [name, degree] : degrees)
    if (degree < 1)
      return failure(fmt::format("{} is {} (a degree counts ranks). use 1 or more", name, degree));
  const auto world = checked_product(tp, cp, pp, dp);
  constexpr Index most = std::numeric_limits<int>::max();
  if (!world || *world > most)
    return failure(
        fmt::format("tp {} * cp {} * pp {} * dp {} is too large (a world has at most {} ranks). "
                    "use smaller degrees",
                    tp, cp, pp, dp, most));
  return ParallelDims{static_cast<int>(tp), static_cast<int>(cp), static_cast<int>(pp),
                      static_cast<int>(dp), sequence_parallel};
}

}  // namespace cpplan::layout
