#pragma once
// What a run prints on standard output: a header, a line a step, and what came of it.
#include <string>

#include "app/prepared_run.hpp"
#include "record/run_record.hpp"

namespace cpplan::app {

/// The layout and the batch in one line that begins with #, then the titles of the columns.
std::string run_header(const PreparedRun& prepared, Transport transport);
std::string step_line(const record::StepRecord& step);
/// First and last loss beside the entropy of the text; bytes by group and collective, memory and
/// the time of a step, as planned and measured.
std::string run_summary(const record::RunRecord& record, const train::TrainingData& data);

}  // namespace cpplan::app
