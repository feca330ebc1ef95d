#pragma once
// How long something takes on this machine, without what other programs do to it now and then.
#include <functional>
#include <vector>

namespace cpplan::bench {

/// Whether, and with whom, a measurement goes on: ranks that measure at once begin together.
using Barrier = std::function<void()>;

/// The second least: other programs make a batch longer, and now and then the clock one shorter.
double undisturbed(std::vector<double> batches);

/// Seconds of one call, undisturbed, over batches of calls that are long enough for the clock. The
/// calls before the first batch warm up.
double seconds_of(const std::function<void()>& call, const Barrier& together);

}  // namespace cpplan::bench
