#include "config/read_axolotl.hpp"

#include <type_traits>

#include "config/coerce.hpp"
#include "config/yaml11.hpp"

namespace cpplan::config {
namespace {

/// One mapping of the file; keys below it read as "prefix.key".
class Section {
 public:
  Section(const Node* mapping, std::string prefix)
      : mapping_(mapping), prefix_(std::move(prefix)) {}

  Section below(std::string_view key) const {
    const Member* member = find(key);
    const bool there = member != nullptr && member->value.node->is_mapping();
    return {there ? member->value.node : nullptr, dotted(key) + "."};
  }

  const Member* find(std::string_view key) const {
    return mapping_ == nullptr ? nullptr : mapping_->find(key);
  }

  template <class T>
  void read(Setting<T>& setting, std::string_view key) const {
    const Member* member = find(key);
    if (member == nullptr) return;
    place(setting, *member);
    if (reads_as_null(*member->value.node)) return;
    setting.value = value_of<T>(setting.key, *member->value.node);
  }

  /// True where something stands there that Python takes as true.
  void read_presence(Setting<bool>& setting, std::string_view key) const {
    const Member* member = find(key);
    if (member == nullptr || setting.given()) return;
    place(setting, *member);
    const Node& node = *member->value.node;
    if (reads_as_null(node)) return;
    const bool is_collection = node.is_mapping() || node.is_sequence();
    setting.value = is_collection
                        ? !node.members.empty() || !node.elements.empty()
                        : !node.text.empty() && read_boolean("", node).value.value_or(true);
  }

  /// A text or a boolean, as it is written.
  void read_word(Setting<std::string>& setting, std::string_view key) const {
    const Member* member = find(key);
    if (member == nullptr) return;
    place(setting, *member);
    const Node& node = *member->value.node;
    if (node.kind != NodeKind::scalar || reads_as_null(node)) return;
    const Scalar scalar = resolve(node);
    setting.value =
        scalar.type == ScalarType::boolean ? (scalar.boolean ? "true" : "false") : node.text;
  }

 private:
  std::string dotted(std::string_view key) const { return prefix_ + std::string(key); }

  template <class T>
  void place(Setting<T>& setting, const Member& member) const {
    setting.key = dotted(member.key);
    setting.span = member.value.span;
    setting.key_span = member.key_span;
  }

  template <class T>
  static std::optional<T> value_of(std::string_view key, const Node& node) {
    if constexpr (std::is_same_v<T, Index>) return read_integer(key, node).value;
    if constexpr (std::is_same_v<T, double>) return read_real(key, node).value;
    if constexpr (std::is_same_v<T, bool>) return read_boolean(key, node).value;
    if constexpr (std::is_same_v<T, std::string>) return read_text(key, node).value;
  }

  const Node* mapping_;
  std::string prefix_;
};

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
  root.below("cpplan").below("run").read(p.sequence_parallel, "sequence_parallel");
  return p;
}

BatchSettings read_batch(const Section& root) {
  BatchSettings b;
  root.read(b.micro_batch_size, "micro_batch_size");
  root.read(b.gradient_accumulation_steps, "gradient_accumulation_steps");
  root.read(b.batch_size, "batch_size");
  root.read(b.sequence_len, "sequence_len");
  root.read(b.num_epochs, "num_epochs");
  root.read(b.max_steps, "max_steps");
  root.read(b.sample_packing, "sample_packing");
  root.read(b.pad_to_sequence_len, "pad_to_sequence_len");
  root.read(b.streaming, "streaming");
  root.read(b.sample_packing_eff_est, "sample_packing_eff_est");
  root.read(b.val_set_size, "val_set_size");
  root.read(b.dataloader_drop_last, "dataloader_drop_last");
  root.read(b.eval_batch_size, "eval_batch_size");
  root.read(b.dataset_shard_num, "dataset_shard_num");
  root.read(b.dataset_shard_idx, "dataset_shard_idx");
  root.read(b.saves_per_epoch, "saves_per_epoch");
  root.read(b.evals_per_epoch, "evals_per_epoch");
  root.read(b.total_num_tokens, "total_num_tokens");
  return b;
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
  root.below("cpplan").below("run").read(o.seed, "seed");
  return o;
}

/// What cpplan.model says wins over what the framework is told.
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
  section.read(m.rms_norm_eps, "rms_norm_eps");
  section.read(m.attention_dropout, "attention_dropout");
  section.read(m.hidden_dropout, "hidden_dropout");
  section.read(m.initializer_range, "initializer_range");
  section.read(m.tie_word_embeddings, "tie_word_embeddings");
}

ModelSettings read_model(const Section& root) {
  ModelSettings m;
  root.read(m.base_model, "base_model");
  read_dimensions(m, root.below("model_config"));  // pydantic's alias of the next
  read_dimensions(m, root.below("overrides_of_model_config"));
  read_dimensions(m, root.below("cpplan").below("model"));
  return m;
}

ClusterSettings read_cluster(const Section& root) {
  ClusterSettings c;
  const Section cluster = root.below("cpplan").below("cluster");
  cluster.read(c.nodes, "nodes");
  cluster.read(c.gpus_per_node, "gpus_per_node");
  cluster.read(c.gpu, "gpu");
  return c;
}

RunSettings read_run(const Section& root) {
  RunSettings r;
  const Section run = root.below("cpplan").below("run");
  run.read(r.backend, "backend");
  run.read(r.dtype, "dtype");
  root.read(r.cp_comm_type, "cp_comm_type");
  run.read(r.cp_comm_type, "cp_comm_type");
  run.read(r.schedule, "schedule");
  run.read(r.recompute, "recompute");
  run.read(r.optimizer_sharding, "optimizer_sharding");
  return r;
}

/// FSDP's settings stand in fsdp_config, with or without the old prefix.
void read_fsdp(FeatureSettings& f, const Section& root) {
  root.read_presence(f.fsdp, "fsdp");
  root.read_presence(f.fsdp, "fsdp_config");
  const Section fsdp = root.below("fsdp_config");
  fsdp.read(f.fsdp_offload_params, "fsdp_offload_params");
  fsdp.read(f.fsdp_offload_params, "offload_params");
  fsdp.read(f.fsdp_reshard_after_forward, "fsdp_reshard_after_forward");
  fsdp.read(f.fsdp_reshard_after_forward, "reshard_after_forward");
  fsdp.read(f.fsdp_version, "version");
  fsdp.read(f.fsdp_version, "fsdp_version");
  root.read(f.fsdp_version, "fsdp_version");
}

FeatureSettings read_features(const Section& root) {
  FeatureSettings f;
  read_fsdp(f, root);
  root.read_presence(f.deepspeed, "deepspeed");
  root.read(f.attn_implementation, "attn_implementation");
  root.read(f.adapter, "adapter");
  root.read(f.rl, "rl");
  root.read_word(f.gradient_checkpointing, "gradient_checkpointing");
  root.read(f.flash_attention, "flash_attention");
  root.read(f.load_in_8bit, "load_in_8bit");
  root.read(f.load_in_4bit, "load_in_4bit");
  root.read_presence(f.pretraining_dataset, "pretraining_dataset");
  root.read_presence(f.multimodal, "processor_type");
  return f;
}

std::vector<DatasetSettings> read_datasets(const Section& root) {
  const Member* list = root.find("datasets");
  if (list == nullptr || reads_as_null(*list->value.node)) list = root.find("pretraining_dataset");
  std::vector<DatasetSettings> datasets;
  if (list == nullptr) return datasets;
  for (const Value& element : list->value.node->elements) {
    const std::string prefix = list->key + "[" + std::to_string(datasets.size()) + "].";
    const Section entry(element.node, prefix);
    DatasetSettings& dataset = datasets.emplace_back();
    entry.read(dataset.path, "path");
    entry.read(dataset.type, "type");
    entry.read(dataset.split, "split");
  }
  return datasets;
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
  config.cluster = read_cluster(root);
  config.run = read_run(root);
  root.below("cpplan").below("launch").read(config.launch.uid, "uid");
  config.features = read_features(root);
  config.datasets = read_datasets(root);
  return config;
}

}  // namespace cpplan::config
