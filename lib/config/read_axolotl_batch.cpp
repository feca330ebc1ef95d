// axolotl's keys that decide how rows become batches, steps, saves and evaluations.
#include "config/read_sections.hpp"

namespace cpplan::config {
namespace {

void read_packing(BatchSettings& b, const Section& root) {
  root.read(b.sample_packing, "sample_packing");
  root.read(b.eval_sample_packing, "eval_sample_packing");
  root.read(b.sample_packing_eff_est, "sample_packing_eff_est");
  root.read(b.sample_packing_group_size, "sample_packing_group_size");
  root.read(b.sample_packing_bin_size, "sample_packing_bin_size");
  root.read(b.sample_packing_sequentially, "sample_packing_sequentially");
  root.read(b.sample_packing_mp_start_method, "sample_packing_mp_start_method");
  root.read(b.multipack_real_batches, "multipack_real_batches");
  root.read(b.curriculum_sampling, "curriculum_sampling");
  root.read(b.pad_to_sequence_len, "pad_to_sequence_len");
  root.read(b.pad_to_multiple_of, "pad_to_multiple_of");
  root.read(b.total_num_tokens, "total_num_tokens");
  root.read(b.group_by_length, "group_by_length");
  root.read_presence(b.batch_flattening, "batch_flattening");
}

void read_rows(BatchSettings& b, const Section& root) {
  root.read(b.streaming, "streaming");
  root.read(b.val_set_size, "val_set_size");
  root.read(b.excess_length_strategy, "excess_length_strategy");
  root.read(b.min_sample_len, "min_sample_len");
  root.read(b.eval_sequence_len, "eval_sequence_len");
  root.read(b.dataloader_drop_last, "dataloader_drop_last");
  root.read(b.dataset_shard_num, "dataset_shard_num");
  root.read(b.dataset_shard_idx, "dataset_shard_idx");
  root.read(b.shuffle_merged_datasets, "shuffle_merged_datasets");
  root.read(b.dataset_exact_deduplication, "dataset_exact_deduplication");
  root.read(b.skip_prepare_dataset, "skip_prepare_dataset");
  root.read(b.dataset_prepared_path, "dataset_prepared_path");
}

void read_saves_and_evaluations(BatchSettings& b, const Section& root) {
  root.read(b.saves_per_epoch, "saves_per_epoch");
  root.read(b.save_steps, "save_steps");
  root.read(b.save_strategy, "save_strategy");
  root.read(b.save_total_limit, "save_total_limit");
  root.read(b.evals_per_epoch, "evals_per_epoch");
  root.read(b.eval_steps, "eval_steps");
  root.read(b.eval_strategy, "evaluation_strategy");  // the old name
  root.read(b.eval_strategy, "eval_strategy");
  root.read(b.eval_table_size, "eval_table_size");
  root.read(b.early_stopping_patience, "early_stopping_patience");
}

}  // namespace

BatchSettings read_batch(const Section& root) {
  BatchSettings b;
  root.read(b.micro_batch_size, "micro_batch_size");
  root.read(b.gradient_accumulation_steps, "gradient_accumulation_steps");
  root.read(b.batch_size, "batch_size");
  root.read(b.eval_batch_size, "eval_batch_size");
  root.read(b.auto_find_batch_size, "auto_find_batch_size");
  root.read(b.sequence_len, "sequence_len");
  root.read(b.num_epochs, "num_epochs");
  root.read(b.max_steps, "max_steps");
  read_packing(b, root);
  read_rows(b, root);
  read_saves_and_evaluations(b, root);
  return b;
}

std::vector<DatasetSettings> read_datasets(const Section& root) {
  const Member* list = root.find("datasets");
  if (list == nullptr || list->value.node->elements.empty())
    list = root.find("pretraining_dataset");
  std::vector<DatasetSettings> datasets;
  if (list == nullptr) return datasets;
  for (const Value& element : list->value.node->elements) {
    const std::string prefix = list->key + "[" + std::to_string(datasets.size()) + "].";
    const Section entry(element.node, prefix);
    DatasetSettings& dataset = datasets.emplace_back();
    entry.read(dataset.path, "path");
    entry.read(dataset.type, "type");
    entry.read(dataset.split, "split");
    entry.read(dataset.name, "name");
    entry.read(dataset.ds_type, "ds_type");
    entry.read(dataset.shards, "shards");
    entry.read(dataset.shards_idx, "shards_idx");
    entry.read(dataset.preprocess_shards, "preprocess_shards");
  }
  return datasets;
}

}  // namespace cpplan::config
