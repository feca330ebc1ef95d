// Megatron's arguments that decide batches, steps and schedules.
#include "config/read_megatron.hpp"

namespace cpplan::config {
namespace {

void read_sizes(TrainingConfig& config, const MegatronArguments& a) {
  BatchSettings& b = config.batch;
  MegatronSettings& m = config.megatron;
  a.read(b.micro_batch_size, "micro_batch_size");
  a.read(b.eval_batch_size, "eval_micro_batch_size");
  a.read(b.sequence_len, "encoder_seq_length");
  a.read(b.sequence_len, "seq_length");
  a.read(m.decoder_seq_length, "decoder_seq_length");
  a.read(m.global_batch_size, "global_batch_size");
  a.read(m.eval_global_batch_size, "eval_global_batch_size");
  a.read(m.rampup_batch_size, "rampup_batch_size");
  a.read(m.decrease_batch_size_if_needed, "decrease_batch_size_if_needed");
  a.read_word(m.step_batch_size_schedule, "step_batch_size_schedule");
}

void read_steps(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.train_iters, "train_iters");
  a.read(m.train_samples, "train_samples");
  a.read(m.exit_interval, "exit_interval");
  a.read(m.eval_iters, "eval_iters");
  a.read(m.eval_interval, "eval_interval");
  a.read(m.save_interval, "save_interval");
  a.read(m.save_retain_interval, "save_retain_interval");
}

void read_checkpoint(CheckpointSettings& c, const MegatronArguments& a) {
  a.read(c.folder, "save");
  a.read(c.resume_from, "load");
}

void read_schedule(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.lr_decay_iters, "lr_decay_iters");
  a.read(m.lr_decay_samples, "lr_decay_samples");
  a.read(m.lr_warmup_iters, "lr_warmup_iters");
  a.read(m.lr_warmup_samples, "lr_warmup_samples");
  a.read(m.lr_warmup_fraction, "lr_warmup_fraction");
  a.read(m.lr_warmup_init, "lr_warmup_init");
  a.read(m.min_lr, "min_lr");
}

void read_data(MegatronSettings& m, const MegatronArguments& a) {
  a.read_word(m.dataloader_type, "dataloader_type");
  a.read_word(m.reset_position_ids, "reset_position_ids");
  a.read_word(m.tokenizer_type, "tokenizer_type");
  a.read(m.mock_data, "mock_data");
  a.read(m.sft, "sft");
  a.read(m.rl_use_sequence_packing, "rl_use_sequence_packing");
}

}  // namespace

void read_megatron_batch(TrainingConfig& config, const MegatronArguments& arguments) {
  read_sizes(config, arguments);
  read_steps(config.megatron, arguments);
  read_checkpoint(config.checkpoint, arguments);
  read_schedule(config.megatron, arguments);
  read_data(config.megatron, arguments);
}

}  // namespace cpplan::config
