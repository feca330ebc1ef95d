// Trains a few steps in the config's layout and on one rank, and compares.
#include "train/verify.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "app/exit_code.hpp"
#include "app/progress_bar.hpp"
#include "app/run_steps.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "app/verify_text.hpp"
#include "base/text.hpp"
#include "engine/meta_run.hpp"

namespace cpplan::app {
namespace {

constexpr Index few_steps = 3;  // one for the gradients, two that see the updated weights

/// The ranks are threads, and the one rank runs after them.
Demand demand_of(const PreparedRun& prepared) {
  const Bytes alone = engine::meta_run(train::on_one_rank(prepared.run).job, {}).memory.total();
  return {1, std::max(arenas_of(*prepared.checked.plan), alone)};
}

int report(const train::Verification& verification, const PreparedRun& prepared,
           const VerifyOptions& options) {
  if (options.format == VerifyFormat::json)
    print_now(verify_json(verification, prepared).dump() + '\n');
  else
    print_now(verify_text(verification, prepared));
  const auto broken = verification.broken();
  if (broken.empty()) return ok;
  return stop_with(check_failed,
                   fmt::format("the layout does not train as one rank does ({}). this is our bug: "
                               "please report it with the config",
                               join(broken, "; ")));
}

int verify_prepared(const PreparedRun& prepared, const VerifyOptions& options) {
  if (const auto fits = check_memory(options.run, demand_of(prepared)); !fits)
    return stop_with(findings, fits.error().message);
  ProgressBar bar(train::steps_to_verify(prepared.run));
  const auto verification =
      train::verify(prepared.run, limit_of(options.run), [&](Index done) { bar.show(done); });
  bar.clear();
  if (!verification) return stop_with(rank_failed, verification.error().message);
  return report(*verification, prepared, options);
}

}  // namespace

int verify(const VerifyOptions& given) {
  VerifyOptions options = given;
  if (!options.run.steps) options.run.steps = few_steps;
  if (const auto usage = check_rank_flags("verify", options.run); usage != ok) return usage;
  auto checked = check_run_config(options.run);
  if (!checked) return stop_with(environment, checked.error().message);
  if (!checked->plan || exit_code_of(checked->findings) != ok) {
    print_verdict(*checked, options.run.config.color);
    return findings;
  }
  auto prepared = prepare_run(options.run, std::move(*checked));
  if (prepared) prepared->run.checkpoints.reset();  // a few steps are no run to keep
  if (!prepared) return stop_with(prepared.error(), options.run.config.color);
  return verify_prepared(*prepared, options);
}

}  // namespace cpplan::app
