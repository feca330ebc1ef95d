#pragma once
// One function a subcommand, each in the file of its name: calls lib/, prints, and returns the exit
// code.
#include "app/options.hpp"

namespace cpplan::app {

int validate(const ValidateOptions& options);
int plan(const PlanOptions& options);
int layout(const LayoutOptions& options);
int run(const RunOptions& options);
int verify(const VerifyOptions& options);
int bench(const BenchOptions& options);
int checkpoint(const CheckpointOptions& options);
int explain(const ExplainOptions& options);
int rules(const RulesOptions& options);
int sbatch(const SbatchOptions& options);
int doctor(const DoctorOptions& options);

}  // namespace cpplan::app
