// CP3: experts.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP315", "Expert ranks are data-parallel ranks. In axolotl EP divides what the other degrees leave; in Megatron experts split the whole world into blocks of ETP * EP * PP, inside data parallelism.",
         {"expert_parallel_size: 3", "--world-size 4"}, {"expert_parallel_size: 4", "--world-size 4"}, "axolotl, utils/distributed.py; Megatron, core/parallel_state.py"},
    Page{"CP360", "Expert parallelism places whole experts; a dense model has none.",
         {"expert_model_parallel_size: 2", "--world-size 2", megatron}, {"expert_model_parallel_size: 2\nnum_experts: 8", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP361", "Every rank, and every group of the router, has the same number of whole experts.",
         {"expert_model_parallel_size: 4\nnum_experts: 6", "--world-size 4", megatron}, {"expert_model_parallel_size: 4\nnum_experts: 8", "--world-size 4", megatron}, "Megatron, core/transformer/transformer_config.py; axolotl's README of expert parallelism"},
    Page{"CP362", "axolotl's plug-in does not split experts over tensor-parallel ranks.",
         {"expert_parallel_size: 4\ntensor_parallel_size: 2", "--world-size 8"}, {"expert_parallel_size: 8", "--world-size 8"}, "axolotl, integrations/expert_parallel/plugin.py"},
    Page{"CP363", "Where experts take part of the world, EP * dp_shard * CP must say what the rest does.",
         {"expert_parallel_size: 2", "--world-size 8"}, {"expert_parallel_size: 2\ndp_shard_size: 4\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "axolotl, integrations/expert_parallel/plugin.py"},
    Page{"CP364", "Without sequence parallelism every TP rank holds all tokens and sends each of them to the experts.",
         {"expert_model_parallel_size: 2\ntensor_model_parallel_size: 2\nnum_experts: 8", "--world-size 8", megatron}, {"expert_model_parallel_size: 2\ntensor_model_parallel_size: 2\nnum_experts: 8\nsequence_parallel: true", "--world-size 8", megatron}, "Megatron, core/model_parallel_config.py"},
    Page{"CP365", "The all-to-all of one micro-batch is hidden behind the compute of another.",
         {"overlap_moe_expert_parallel_comm: true\nexpert_model_parallel_size: 2\nnum_experts: 8\npipeline_model_parallel_size: 2", "--world-size 4", megatron}, {"overlap_moe_expert_parallel_comm: true\nexpert_model_parallel_size: 2\nnum_experts: 8", "--world-size 4", megatron}, "Megatron, core/transformer/transformer_config.py"},
};
// clang-format on

}  // namespace

std::span<const Page> expert_pages() {
  return table;
}

}  // namespace cpplan::diag
