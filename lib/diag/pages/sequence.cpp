// CP3: sequence length and context parallelism.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP301", "Late tokens of a causal sequence are dearer than early ones. Rank r takes chunks r and 2*CP-1-r, so that all do equal work; that needs 2*CP equal chunks. Megatron stops where the length is no multiple; axolotl pads, and its own chunks are contiguous.",
         {"sequence_len: 20906\ncontext_parallel_size: 4", "--world-size 4"}, {"sequence_len: 20912\ncontext_parallel_size: 4", "--world-size 4"}, "Megatron, training/arguments.py and core/utils.py"},
    Page{"CP309", "With sequence parallelism a TP rank keeps an equal share of the tokens of its CP rank: the length is a multiple of CP * lcm(2, TP), no less and no more.",
         {"seq_length: 4092\ncontext_parallel_size: 2\ntensor_model_parallel_size: 8\nsequence_parallel: true", "--world-size 16", megatron}, {"seq_length: 4096\ncontext_parallel_size: 2\ntensor_model_parallel_size: 8\nsequence_parallel: true", "--world-size 16", megatron}, "Megatron, core/utils.py and core/tensor_parallel/mappings.py"},
    Page{"CP310", "Packed rows are joined into one sequence before it is split, so there is one row a rank. A larger accumulation gives the same batch.",
         {"sample_packing: true\nmicro_batch_size: 2\ncontext_parallel_size: 2", "--world-size 2"}, {"sample_packing: true\nmicro_batch_size: 1\ncontext_parallel_size: 2", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP311", "axolotl's ring attention is built on the flash attention library.",
         {"context_parallel_size: 2\nattn_implementation: sdpa", "--world-size 2"}, {"context_parallel_size: 2\nattn_implementation: flash_attention_2", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP318", "An all-to-all gives every rank whole heads of the whole sequence, so that CP * TP divides the heads, and the key-value heads where they are not copied.",
         {"cp_comm_type: a2a\ncontext_parallel_size: 32", "--world-size 32", megatron}, {"cp_comm_type: a2a\ncontext_parallel_size: 16", "--world-size 32", megatron}, "TransformerEngine, context_parallel.py"},
    Page{"CP340", "a2a+p2p runs an all-to-all over the inner level and a ring over the outer. Without levels a job was seen to train with context parallelism off: each rank attended to its own tokens.",
         {"cp_comm_type: a2a+p2p\ncontext_parallel_size: 16", "--world-size 16", megatron}, {"cp_comm_type: a2a+p2p\ncontext_parallel_size: 16\nhierarchical_context_parallel_sizes: [8, 2]", "--world-size 16", megatron}, "Megatron, training/arguments.py and core/parallel_state.py"},
    Page{"CP341", "One type holds for all layers; a list has one for each.",
         {"cp_comm_type: [p2p, a2a]\ncontext_parallel_size: 2", "--world-size 2", megatron}, {"cp_comm_type: [p2p]\ncontext_parallel_size: 2", "--world-size 2", megatron}, "Megatron, core/transformer/transformer_config.py"},
    Page{"CP342", "Hybrid (dynamic) context parallelism regroups ranks by the lengths of documents in every step, which pipeline stages, Megatron-FSDP, other data loaders and a loss averaged by sequence do not allow.",
         {"hybrid_context_parallel: true\ncontext_parallel_size: 2\ndataloader_type: cyclic\ncalculate_per_token_loss: true", "--world-size 2", megatron}, {"hybrid_context_parallel: true\ncontext_parallel_size: 2\ndataloader_type: single\ncalculate_per_token_loss: true", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP343", "llama3's ring attention gathers heads_k_stride key-value heads at a time. That it must divide them stands in a help text alone; the run stops in its first step.",
         {"context_parallel_size: 2\nheads_k_stride: 3\noverrides_of_model_config: {num_attention_heads: 32, num_key_value_heads: 8}", "--world-size 2"}, {"context_parallel_size: 2\nheads_k_stride: 4\noverrides_of_model_config: {num_attention_heads: 32, num_key_value_heads: 8}", "--world-size 2"}, "axolotl, utils/schemas/config.py"},
    Page{"CP344", "Of axolotl's two ring attentions varlen_llama3 knows where documents end and batch_ring does not: in packed rows attention would cross from one document into the next.",
         {"sample_packing: true\ncontext_parallel_size: 2\nring_attn_func: batch_ring", "--world-size 2"}, {"sample_packing: true\ncontext_parallel_size: 2\nring_attn_func: varlen_llama3", "--world-size 2"}, "axolotl, monkeypatch/ring_attn/patch.py"},
    Page{"CP345", "axolotl pads to a multiple of min(CP, 64) tokens, which do not divide over more than 64 ranks.",
         {"context_parallel_size: 128", "--world-size 128"}, {"context_parallel_size: 64", "--world-size 128"}, "axolotl, utils/ctx_managers/sequence_parallel.py"},
    Page{"CP346", "Kernels that take the ends of documents pack micro_batch_size rows into one; others get rows of sequence_len, and some of them attend across documents.",
         {"sample_packing: true\nattn_implementation: sdpa"}, {"sample_packing: true\nattn_implementation: flash_attention_2"}, "axolotl, utils/schemas/enums.py and utils/trainer.py"},
    Page{"CP347", "TransformerEngine's ring attends to a block of keys at a time and knows no windows there; all-gather and all-to-all give a rank whole sequences. Our engine masks by global positions and runs windows in every way.",
         {"window_size: [128, 0]\ncontext_parallel_size: 2", "--world-size 2", Base::megatron}, {"window_size: [128, 0]\ncontext_parallel_size: 2\ncp_comm_type: all_gather", "--world-size 2", Base::megatron}, "TransformerEngine, pytorch/attention/dot_product_attention/context_parallel.py"},
};
// clang-format on

}  // namespace

std::span<const Page> sequence_pages() {
  return table;
}

}  // namespace cpplan::diag
