// Megatron's arguments about degrees, pipeline stages and how context parallelism communicates.
#include "config/read_megatron.hpp"

namespace cpplan::config {
namespace {

void read_degrees(TrainingConfig& config, const MegatronArguments& a) {
  ParallelSettings& p = config.parallel;
  MegatronSettings& m = config.megatron;
  a.read(p.tensor_parallel_size, "tensor_model_parallel_size");
  a.read(p.context_parallel_size, "context_parallel_size");
  a.read(p.pipeline_parallel_size, "pipeline_model_parallel_size");
  a.read(p.expert_parallel_size, "expert_model_parallel_size");
  a.read(p.sequence_parallel, "sequence_parallel");
  a.read(m.expert_tensor_parallel_size, "expert_tensor_parallel_size");
  a.read(m.num_distributed_optimizer_instances, "num_distributed_optimizer_instances");
  a.read(m.use_tp_pp_dp_mapping, "use_tp_pp_dp_mapping");
  a.read(m.tp_comm_overlap, "tp_comm_overlap");
}

void read_context_parallel(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.cp_comm_type, "cp_comm_type");
  a.read(m.hierarchical_context_parallel_sizes, "hierarchical_context_parallel_sizes");
  a.read(m.hybrid_context_parallel, "hybrid_context_parallel");
}

/// The flags and the fields behind them have different names.
void read_stages(TrainingConfig& config, const MegatronArguments& a) {
  ParallelSettings& p = config.parallel;
  MegatronSettings& m = config.megatron;
  a.read(p.first_stage_layers, "num_layers_in_first_pipeline_stage");
  a.read(p.first_stage_layers, "decoder_first_pipeline_num_layers");
  a.read(p.last_stage_layers, "num_layers_in_last_pipeline_stage");
  a.read(p.last_stage_layers, "decoder_last_pipeline_num_layers");
  a.read(m.account_for_embedding, "account_for_embedding_in_pipeline_split");
  a.read(m.account_for_loss, "account_for_loss_in_pipeline_split");
  a.read_word(m.pipeline_layout, "pipeline_model_parallel_layout");
}

void read_virtual_stages(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.layers_per_virtual_stage, "num_layers_per_virtual_pipeline_stage");
  a.read(m.virtual_stages, "num_virtual_stages_per_pipeline_rank");
  a.read(m.virtual_pipeline_size, "virtual_pipeline_model_parallel_size");
  a.read(m.microbatch_group_size, "microbatch_group_size_per_vp_stage");
  a.read(m.microbatch_group_size, "microbatch_group_size_per_virtual_pipeline_stage");
  a.read(m.overlap_p2p, "overlap_p2p_comm");
  a.read_inverted(m.overlap_p2p, "no_overlap_p2p_communication");
  a.read(m.defer_embedding_wgrad_compute, "defer_embedding_wgrad_compute");
  a.read(m.mtp_num_layers, "mtp_num_layers");
}

}  // namespace

void read_megatron_parallel(TrainingConfig& config, const MegatronArguments& arguments) {
  read_degrees(config, arguments);
  read_context_parallel(config.megatron, arguments);
  read_stages(config, arguments);
  read_virtual_stages(config.megatron, arguments);
}

}  // namespace cpplan::config
