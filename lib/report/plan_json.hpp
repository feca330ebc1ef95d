#pragma once
// A plan for programs. Names are stable: they are only ever added to.
#include "base/json.hpp"
#include "diag/diagnostic.hpp"
#include "plan/plan.hpp"

namespace cpplan::report {

/// Schema cpplan/plan/1: {schema, summary, config, world, batch, data, steps, packing, sequence,
/// layout, memory, communication, time, diagnostics}. Sizes are bytes. A value that cannot be known
/// is null. Names of values directly below a section are unique in the document. `findings` are all
/// there are, those of the plan included.
Json plan_json(const plan::Plan& plan, const diag::Diagnostics& findings);

}  // namespace cpplan::report
