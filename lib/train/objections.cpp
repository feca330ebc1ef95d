#include "train/objections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "plan/engine_pipeline.hpp"
#include "plan/engine_settings.hpp"
#include "plan/learning_rate.hpp"
#include "train/sharding_objections.hpp"

namespace cpplan::train {
namespace {
using config::Setting;
using Kind = Objection::Kind;

constexpr Index byte_vocabulary = 256;

class ObjectionList {
 public:
  template <class T>
  void add(Kind kind, const Setting<T>& setting, std::string message, std::string why,
           std::string help) {
    found_.push_back({kind, std::move(message), std::move(why), std::move(help), setting.span});
  }

  /// Refuses any value but those that the engine knows.
  void only(const Setting<std::string>& setting, std::initializer_list<std::string_view> known,
            std::string_view why) {
    if (!setting.given()) return;
    if (std::find(known.begin(), known.end(), *setting) != known.end()) return;
    add(Kind::refused, setting,
        fmt::format("the engine does not run \"{}: {}\"", setting.key, *setting), std::string(why),
        fmt::format("use {}: {}", setting.key, *known.begin()));
  }

  void add(const diag::Span& span, std::string message, std::string why, std::string help) {
    found_.push_back({Kind::refused, std::move(message), std::move(why), std::move(help), span});
  }

  std::vector<Objection> take() { return std::move(found_); }

 private:
  std::vector<Objection> found_;
};

void refuse_other_training(const plan::Plan& plan, ObjectionList& found) {
  const auto& config = plan.config;
  const auto& features = config.features;
  if (config.parallel.expert_parallel_size.value_or(1) > 1)
    found.add(Kind::refused, config.parallel.expert_parallel_size,
              fmt::format("the engine has no experts, and {} is {}",
                          config.parallel.expert_parallel_size.key,
                          *config.parallel.expert_parallel_size),
              "its layers are dense, so no expert could be spread over ranks",
              "plan it with `cpplan plan`, or run it with expert_parallel_size: 1");
  if (features.rl.given())
    found.add(Kind::refused, features.rl,
              fmt::format("the engine does not train with rl: {}", *features.rl),
              "it computes the next-token loss alone", "remove rl, or use `cpplan plan`");
  if (features.multimodal.value_or(false))
    found.add(Kind::refused, features.multimodal, "the engine does not train multimodal models",
              "it reads text alone", "use a text model, or `cpplan plan`");
}

void replace_adapters(const config::FeatureSettings& features, ObjectionList& found) {
  constexpr auto why = "activations, messages and layout are those of the dense model";
  if (features.adapter.given() && !features.adapter.value->empty())
    found.add(Kind::replaced, features.adapter,
              fmt::format("adapter: {} is trained dense, with all weights", *features.adapter), why,
              "memory of the real run is in `cpplan plan`");
  for (const auto* setting : {&features.load_in_8bit, &features.load_in_4bit})
    if (setting->value_or(false))
      found.add(Kind::replaced, *setting,
                fmt::format("{} is ignored: weights are trained in full precision", setting->key),
                why, "memory of the real run is in `cpplan plan`");
}

bool is_on(const Setting<std::string>& setting) {
  return setting.given() && *setting != "false" && *setting != "no" && !setting.value->empty();
}

void judge_precision(const config::TrainingConfig& config, ObjectionList& found) {
  const auto& run = config.run;
  found.only(run.dtype, {"fp32", "float32", "bf16", "bfloat16"},
             "the kernels compute on float32 and bfloat16");
  const bool halved = plan::dtype_of(config) == kernels::DType::bf16;
  if (run.cp_gradient_dtype.value_or("fp32") == "bf16" && !halved)
    found.add(Kind::refused, run.cp_gradient_dtype,
              "gradients of fp32 activations do not travel in bf16",
              "they would be rounded further than what they are gradients of",
              "set cpplan.run.dtype: bf16, or cpplan.run.cp_gradient_dtype: fp32");
  const auto replace = [&](const auto& fp16) {
    found.add(Kind::replaced, fp16,
              fmt::format("{} is trained in {}", fp16.key, halved ? "bf16" : "fp32"),
              "the kernels have no float16", "use bf16: true, which needs no loss scaling");
  };
  if (is_on(config.features.fp16)) replace(config.features.fp16);
  if (config.megatron.fp16.value_or(false)) replace(config.megatron.fp16);
}

void refuse_engine_settings(const plan::Plan& plan, ObjectionList& found) {
  const auto& run = plan.config.run;
  found.only(run.backend, {"auto", "cpu", "cuda"}, "it has kernels for these");
  const auto& scheduler = plan.config.optimizer.lr_scheduler;
  if (scheduler.given() && !plan::parse_schedule(*scheduler))
    found.only(scheduler, {"cosine", "linear", "constant", "constant_with_warmup"},
               "the learning rate of a step must be known");
}

/// An asked-for schedule that does not fit is a finding of its own where it is cpplan.run's.
void refuse_pipeline(const plan::Plan& plan, ObjectionList& found) {
  const auto& run = plan.config.run;
  const bool judged = run.schedule.given() || run.virtual_stages.given();
  if (judged || plan.layout.stage_layers.empty()) return;
  const auto pipeline = plan::pipeline_of(plan);
  if (pipeline) return;
  const plan::Refusal& why = pipeline.error();
  found.add(why.span, "the engine does not interleave " + why.problem, why.why, why.help);
}

void refuse_models(const plan::Plan& plan, ObjectionList& found) {
  if (!plan.model) return;
  const auto& model = plan.config.model;
  if (plan.model->vocab_size < byte_vocabulary)
    found.add(
        Kind::refused, model.vocab_size,
        fmt::format("vocab_size {} does not hold the 256 byte tokens", plan.model->vocab_size),
        "text is trained byte by byte", "set cpplan.model.vocab_size: 256");
}

}  // namespace

std::vector<Objection> objections(const plan::Plan& plan) {
  ObjectionList found;
  refuse_other_training(plan, found);
  replace_adapters(plan.config.features, found);
  judge_precision(plan.config, found);
  refuse_engine_settings(plan, found);
  refuse_pipeline(plan, found);
  refuse_models(plan, found);
  auto all = found.take();
  std::ranges::move(sharding_objections(plan), std::back_inserter(all));
  return all;
}

}  // namespace cpplan::train
