// What stands below cpplan: in a config of any dialect.
#include "config/read_sections.hpp"

namespace cpplan::config {
namespace {

void read_cluster(ClusterSettings& c, const Section& cluster) {
  cluster.read(c.nodes, "nodes");
  cluster.read(c.gpus_per_node, "gpus_per_node");
  cluster.read(c.gpu, "gpu");
  cluster.read(c.partition, "partition");
  cluster.read(c.account, "account");
  cluster.read(c.qos, "qos");
  cluster.read(c.constraint, "constraint");
  cluster.read(c.time, "time");
  cluster.read(c.reservation, "reservation");
  cluster.read(c.hardware, "hardware");
}

void read_run(RunSettings& r, const Section& run) {
  run.read(r.backend, "backend");
  run.read(r.dtype, "dtype");
  run.read(r.cp_gradient_dtype, "cp_gradient_dtype");
  run.read(r.schedule, "schedule");
  run.read(r.recompute, "recompute");
  run.read(r.optimizer_sharding, "optimizer_sharding");
  run.read(r.sequence_split, "sequence_split");
  run.read(r.virtual_stages, "virtual_stages");
}

}  // namespace

void read_comm_type(TrainingConfig& config, const Section& section) {
  const Member* type = section.find("cp_comm_type");
  if (type != nullptr && type->value.node->is_sequence())
    section.read(config.megatron.cp_comm_type, "cp_comm_type");
  else
    section.read(config.run.cp_comm_type, "cp_comm_type");
}

void read_rope(RopeSettings& r, const Section& section) {
  section.read(r.rope_type, "type");  // before transformers 4.43
  section.read(r.rope_type, "rope_type");
  section.read(r.rope_theta, "rope_theta");
  section.read(r.factor, "factor");
  section.read(r.low_freq_factor, "low_freq_factor");
  section.read(r.high_freq_factor, "high_freq_factor");
  section.read(r.beta_fast, "beta_fast");
  section.read(r.beta_slow, "beta_slow");
  section.read(r.attention_factor, "attention_factor");
  section.read(r.original_max_position_embeddings, "original_max_position_embeddings");
}

void read_dimensions(ModelSettings& m, const Section& section) {
  section.read(m.hidden_size, "hidden_size");
  section.read(m.num_hidden_layers, "num_hidden_layers");
  section.read(m.num_attention_heads, "num_attention_heads");
  section.read(m.num_key_value_heads, "num_key_value_heads");
  section.read(m.head_dim, "head_dim");
  section.read(m.intermediate_size, "intermediate_size");
  section.read(m.vocab_size, "vocab_size");
  section.read(m.max_position_embeddings, "max_position_embeddings");
  section.read(m.rope_theta, "rope_theta");
  read_rope(m.rope_scaling, section.below("rope_scaling"));
  read_rope(m.rope_scaling, section.below("rope_parameters"));
  section.read(m.rms_norm_eps, "rms_norm_eps");
  section.read(m.attention_dropout, "attention_dropout");
  section.read(m.hidden_dropout, "hidden_dropout");
  section.read(m.initializer_range, "initializer_range");
  section.read(m.tie_word_embeddings, "tie_word_embeddings");
  section.read(m.attention_bias, "attention_bias");
  section.read(m.model_type, "model_type");
  section.read(m.hidden_act, "hidden_act");
  section.read(m.num_local_experts, "num_local_experts");
  section.read(m.num_experts_per_tok, "num_experts_per_tok");
  section.read(m.moe_intermediate_size, "moe_intermediate_size");
  section.read(m.sliding_window, "sliding_window");
}

void read_own_sections(TrainingConfig& config, const Section& root) {
  const Section own = root.below("cpplan");
  read_dimensions(config.model, own.below("model"));
  read_cluster(config.cluster, own.below("cluster"));
  read_run(config.run, own.below("run"));
  read_comm_type(config, own.below("run"));
  own.below("run").read(config.megatron.hierarchical_context_parallel_sizes,
                        "hierarchical_context_parallel_sizes");
  own.below("run").read(config.optimizer.seed, "seed");
  own.below("run").read(config.parallel.sequence_parallel, "sequence_parallel");
  own.below("launch").read(config.launch.uid, "uid");
}

}  // namespace cpplan::config
