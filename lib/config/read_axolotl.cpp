#include "config/read_axolotl.hpp"

#include "config/read_sections.hpp"

namespace cpplan::config {
namespace {

ParallelSettings read_parallel(const Section& root) {
  ParallelSettings p;
  root.read(p.tensor_parallel_size, "tensor_parallel_size");
  root.read(p.context_parallel_size, "context_parallel_size");
  root.read(p.pipeline_parallel_size, "pipeline_parallel_size");
  root.read(p.data_parallel_size, "data_parallel_size");
  root.read(p.dp_shard_size, "dp_shard_size");
  root.read(p.dp_replicate_size, "dp_replicate_size");
  root.read(p.expert_parallel_size, "expert_parallel_size");
  root.read(p.sequence_parallel_degree, "sequence_parallel_degree");
  root.read(p.first_stage_layers, "num_layers_in_first_pipeline_stage");
  root.read(p.last_stage_layers, "num_layers_in_last_pipeline_stage");
  root.read(p.world_size, "world_size");
  return p;
}

OptimizerSettings read_optimizer(const Section& root) {
  OptimizerSettings o;
  root.read(o.learning_rate, "learning_rate");
  root.read(o.weight_decay, "weight_decay");
  root.read(o.adam_beta1, "adam_beta1");
  root.read(o.adam_beta2, "adam_beta2");
  root.read(o.adam_epsilon, "adam_epsilon");
  root.read(o.max_grad_norm, "max_grad_norm");
  root.read(o.optimizer, "optimizer");
  root.read(o.lr_scheduler, "lr_scheduler");
  root.read(o.warmup_steps, "warmup_steps");
  root.read(o.warmup_ratio, "warmup_ratio");
  root.read(o.cosine_min_lr_ratio, "cosine_min_lr_ratio");
  root.read(o.seed, "seed");
  return o;
}

ModelSettings read_model(const Section& root) {
  ModelSettings m;
  root.read(m.base_model, "base_model");
  read_dimensions(m, root.below("model_config"));  // pydantic's alias of the next
  read_dimensions(m, root.below("overrides_of_model_config"));
  return m;
}

CheckpointSettings read_checkpoint(const Section& root) {
  CheckpointSettings c;
  root.read(c.folder, "output_dir");
  root.read(c.resume_from, "resume_from_checkpoint");
  root.read(c.auto_resume, "auto_resume_from_checkpoints");
  return c;
}

}  // namespace

TrainingConfig read_axolotl(const Document& document, const std::string& file) {
  const Section root(document.root.node, "");
  TrainingConfig config;
  config.file = file;
  config.dialect = Dialect::axolotl;
  config.parallel = read_parallel(root);
  config.batch = read_batch(root);
  config.optimizer = read_optimizer(root);
  config.model = read_model(root);
  read_comm_type(config, root);
  config.checkpoint = read_checkpoint(root);
  config.features = read_features(root);
  config.adapter = read_adapter(root);
  config.rl = read_rl(root);
  config.datasets = read_datasets(root);
  read_own_sections(config, root);
  return config;
}

}  // namespace cpplan::config
