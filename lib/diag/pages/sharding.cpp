// CP3: FSDP, DeepSpeed, optimizers, recomputation.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP370", "8-bit states of bitsandbytes are no tensors that FSDP2 or TP can cut, and some optimizers work on whole matrices. axolotl has a check of TP with 8-bit optimizers that no class inherits: the run fails in its first optimizer step.",
         {"optimizer: adamw_8bit\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 2"}, {"optimizer: adamw_torch_8bit\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP371", "torch's FSDP2 shards what pipeline stages, expert parallelism or the distributed optimizer would split or hold whole.",
         {"use_torch_fsdp2: true\nuntie_embeddings_and_output_weights: true\nckpt_format: torch_dcp\npipeline_model_parallel_size: 2", "--world-size 4", megatron}, {"use_torch_fsdp2: true\nuntie_embeddings_and_output_weights: true\nckpt_format: torch_dcp", "--world-size 4", megatron}, "Megatron, training/arguments.py"},
    Page{"CP372", "Megatron's FSDP knows sgd and adam, and writes checkpoints of a format of its own.",
         {"use_megatron_fsdp: true\nckpt_format: torch", "--world-size 2", megatron}, {"use_megatron_fsdp: true\nckpt_format: fsdp_dtensor", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP373", "Parameters are gathered behind the compute only where they were scattered with their gradients.",
         {"overlap_param_gather: true\noverlap_grad_reduce: true", "--world-size 2", megatron}, {"overlap_param_gather: true\noverlap_grad_reduce: true\nuse_distributed_optimizer: true", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP374", "Each instance of the distributed optimizer shards over equally many of the DP * CP ranks.",
         {"use_distributed_optimizer: true\nnum_distributed_optimizer_instances: 3", "--world-size 8", megatron}, {"use_distributed_optimizer: true\nnum_distributed_optimizer_instances: 2", "--world-size 8", megatron}, "Megatron, core/parallel_state.py"},
    Page{"CP375", "accelerate combines degrees with FSDP version 2 alone, and axolotl takes version 1 where fsdp_version does not stand.",
         {"tensor_parallel_size: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 4"}, {"tensor_parallel_size: 2\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 4"}, "accelerate, parallelism_config.py; axolotl, utils/schemas/validation.py"},
    Page{"CP376", "axolotl counts data-parallel ranks beside TP or CP as dp_shard also without FSDP; its table of what goes together lists the combination with FSDP alone.",
         {"tensor_parallel_size: 2", "--world-size 8"}, {"tensor_parallel_size: 2\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "axolotl, docs/nd_parallelism and utils/distributed.py"},
    Page{"CP377", "With DeepSpeed axolotl writes tensor_parallel.autotp_size into a changed copy of the JSON and replaces what stands there.",
         {"tensor_parallel_size: 2\ndeepspeed: ds.json", "--world-size 2"}, {"deepspeed: ds.json", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP378", "torch_dcp checkpoints hold a model that TP and PP do not split.",
         {"ckpt_format: torch_dcp\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, {"ckpt_format: torch_dist\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP380", "Full recomputation is told which layers to compute again; selective takes parts of every layer and no method.",
         {"recompute_granularity: full", "", megatron}, {"recompute_granularity: full\nrecompute_method: uniform\nrecompute_num_layers: 1", "", megatron}, "Megatron, core/transformer/transformer_config.py"},
    Page{"CP381", "Saved inputs are spread over the TP ranks where all hold the same: with TP, full recomputation and no sequence parallelism.",
         {"distribute_saved_activations: true\nrecompute_granularity: full\nrecompute_method: uniform\nrecompute_num_layers: 1", "", megatron}, {"distribute_saved_activations: true\nrecompute_granularity: full\nrecompute_method: uniform\nrecompute_num_layers: 1\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP382", "What is moved away are the activations that checkpointing keeps: one input a layer.",
         {"activation_offloading: true"}, {"activation_offloading: true\ngradient_checkpointing: true"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP383", "What is computed again need not be moved away, and Megatron stops where both are asked for.",
         {"cpu_offloading: true\nrecompute_granularity: selective", "", megatron}, {"cpu_offloading: true", "", megatron}, "Megatron, core/transformer/transformer_config.py"},
};
// clang-format on

}  // namespace

std::span<const Page> sharding_pages() {
  return table;
}

}  // namespace cpplan::diag
