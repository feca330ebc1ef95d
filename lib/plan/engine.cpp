// The engine's side of a plan: the job that `cpplan run` runs.
#include <fmt/format.h>

#include <limits>
#include <numeric>

#include "base/checked.hpp"
#include "engine/rotation.hpp"
#include "plan/engine_data_parallel.hpp"
#include "plan/engine_pipeline.hpp"
#include "plan/engine_settings.hpp"
#include "plan/make_plan.hpp"

namespace cpplan::plan {
namespace {

/// Bytes of a run's most heavily used rank stay far below 2^63 while a step's rows do.
constexpr Index most_rows = Index{1} << 32;
constexpr Index most_measured_layers = 10'000;

Result<void> check_divides(std::string_view what, Index n, Index tp) {
  if (n % tp == 0) return {};
  return failure(
      fmt::format("the engine cannot split {} {} over {} TP ranks ({} does not divide by "
                  "{}). use --shrink, or a tensor_parallel_size that divides them",
                  n, what, tp, n, tp));
}

Result<void> check_divides(const model::ModelSpec& m, Index tp) {
  const std::pair<std::string_view, Index> cut[] = {{"attention heads", m.num_attention_heads},
                                                    {"MLP columns", m.intermediate_size}};
  for (const auto& [what, n] : cut)
    if (auto divides = check_divides(what, n, tp); !divides) return divides;
  if (m.num_key_value_heads % tp != 0 && tp % m.num_key_value_heads != 0)
    return failure(fmt::format(
        "the engine cannot spread {} key-value heads over {} TP ranks (each rank has as "
        "many, or as many ranks share each). use --shrink, or tensor_parallel_size: {}",
        m.num_key_value_heads, tp, std::gcd(m.num_key_value_heads, tp)));
  if (m.num_attention_heads % m.num_key_value_heads != 0)
    return failure(
        fmt::format("{} attention heads cannot share {} key-value heads (each serves as "
                    "many). use a divisor of {}",
                    m.num_attention_heads, m.num_key_value_heads, m.num_attention_heads));
  if (m.head_dim % 2 != 0)
    return failure(
        fmt::format("head_dim {} is odd (rotary positions turn pairs of features). use an even one",
                    m.head_dim));
  return {};
}

Result<void> check_sizes(const Plan& plan) {
  const auto& b = plan.batch;
  const auto rows = checked_product(b.micro_batch_size, plan.engine_layout.padded_sequence_len);
  constexpr Index most = std::numeric_limits<int>::max();
  if (plan.model->num_hidden_layers > most_measured_layers)
    return failure(fmt::format("{} layers are beyond the engine (it takes 10,000). use --shrink",
                               plan.model->num_hidden_layers));
  if (rows && *rows <= most_rows && b.micro_batch_size <= most &&
      b.gradient_accumulation_steps <= most)
    return {};
  return failure(fmt::format(
      "micro_batch_size {} of sequence_len {} is beyond the engine (a micro-batch has at "
      "most 2^32 rows). use a smaller one",
      b.micro_batch_size, b.sequence_len));
}

engine::AdamWSettings adamw_of(const config::OptimizerSettings& o) {
  engine::AdamWSettings adamw;
  adamw.beta1 = o.adam_beta1.value_or(adamw.beta1);
  adamw.beta2 = o.adam_beta2.value_or(adamw.beta2);
  adamw.epsilon = o.adam_epsilon.value_or(adamw.epsilon);
  adamw.weight_decay = o.weight_decay.value_or(0.0);
  adamw.max_grad_norm = o.max_grad_norm.value_or(1.0);  // Hugging Face's TrainingArguments
  return adamw;
}

}  // namespace

Result<engine::Job> make_job(const Plan& plan) {
  if (!plan.model)
    return failure(
        "the dimensions of the model are not known (base_model is not in the registry). "
        "give them under cpplan.model");
  if (const auto why = model::why_not_llama_type(*plan.model, plan.batch.sequence_len))
    return failure(fmt::format(
        "the engine cannot train {} ({}). use a model of Llama's type, for example Llama-3.2-1B",
        plan.model->name, *why));
  if (const auto why = engine::why_no_rotation(*plan.model))
    return failure(fmt::format("the engine cannot train {}: {}", plan.model->name, *why));
  if (plan.layout.stage_layers.empty())
    return failure(fmt::format(
        "{} layers do not fit {} pipeline stages (every stage has the same number of them). use "
        "num_layers_in_first_pipeline_stage and num_layers_in_last_pipeline_stage",
        plan.model->num_hidden_layers, plan.layout.dims.pp));
  if (auto fits = check_divides(*plan.model, plan.layout.dims.tp); !fits)
    return tl::unexpected(fits.error());
  if (auto fits = check_sizes(plan); !fits) return tl::unexpected(fits.error());
  auto context_parallel = context_parallel_of(plan);
  if (!context_parallel) return tl::unexpected(context_parallel.error());
  const auto recompute = recompute_of(plan);
  if (!recompute) return tl::unexpected(recompute.error());
  const auto data_parallel = data_parallel_of(plan);
  if (!data_parallel) return failure(data_parallel.error().message());
  const auto pipeline = pipeline_of(plan);
  if (!pipeline) return failure(pipeline.error().message());

  engine::Job job;
  job.context_parallel = std::move(*context_parallel);
  job.data_parallel = *data_parallel;
  job.recompute = *recompute;
  job.weight_gradients = weight_gradients_of(plan.config);
  if (plan.checkpoints) job.snapshots = engine::Snapshots::host;
  job.model = *plan.model;
  job.dims = plan.layout.dims;
  job.order = plan.layout.order;
  job.virtual_stages = pipeline->virtual_stages;
  job.stage_layers = pipeline->stage_layers;
  job.attention_window = attention_window_of(plan);
  job.dtype = dtype_of(plan.config);
  job.seed = static_cast<std::uint64_t>(plan.config.optimizer.seed.value_or(42));
  job.micro_batches = static_cast<int>(plan.batch.gradient_accumulation_steps);
  job.micro_batch_size = static_cast<int>(plan.batch.micro_batch_size);
  job.capacity =
      plan.batch.micro_batch_size * plan.engine_layout.padded_sequence_len / plan.layout.dims.cp;
  job.adamw = adamw_of(plan.config.optimizer);
  return job;
}

}  // namespace cpplan::plan
