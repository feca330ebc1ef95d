#pragma once
// Findings for programs: nothing stands in the text alone.
#include "base/json.hpp"
#include "diag/diagnostic.hpp"

namespace cpplan::diag {

/// [{id, name, severity, message, label, span, related, why, help, explain}]; a finding without a
/// place has span null.
Json diagnostics_json(const Diagnostics& diagnostics);

/// {errors, warnings, notes}
Json summary_json(const Summary& summary);

/// {schema: "cpplan/validate/1", summary, diagnostics}, of any number of files.
Json validate_document(const Diagnostics& diagnostics);

}  // namespace cpplan::diag
