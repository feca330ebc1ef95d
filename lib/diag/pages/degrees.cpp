// CP3: degrees against the world, and tensor parallelism.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP302", "Ranks form a grid of TP * CP * PP * DP. data_parallel_size is a check of that product; where it does not hold, either the cluster or a degree is not what was meant.",
         {"tensor_parallel_size: 2\ndata_parallel_size: 2", "--world-size 8"}, {"tensor_parallel_size: 2\ndata_parallel_size: 4", "--world-size 8"}, "Megatron, training/arguments.py; accelerate, parallelism_config.py"},
    Page{"CP303", "A degree counts ranks. axolotl takes a negative one and computes a negative batch.",
         {"context_parallel_size: -2"}, {"context_parallel_size: 1"}, "axolotl, utils/schemas/validation.py: no ge="},
    Page{"CP304", "The world splits into equal blocks of TP * CP * PP ranks, one a copy of the model. axolotl floors the division and leaves ranks to fail later; Megatron's YAML path cuts TP down to the world without a word.",
         {"tensor_parallel_size: 4", "--world-size 6"}, {"tensor_parallel_size: 3", "--world-size 6"}, "Megatron, training/arguments.py and yaml_arguments.py; axolotl, utils/config/__init__.py"},
    Page{"CP305", "FSDP is what shards parameters over these ranks.",
         {"dp_shard_size: 4", "--world-size 8"}, {"dp_shard_size: 4\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "axolotl, utils/distributed.py"},
    Page{"CP306", "What TP, CP and EP leave of the world is filled by dp_replicate * dp_shard, exactly. axolotl floors, so that a product beyond the world drops a dimension without a word: an example of its own documentation does.",
         {"dp_shard_size: 8\ncontext_parallel_size: 8\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"},
         {"dp_shard_size: 2\ncontext_parallel_size: 4\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "axolotl, utils/distributed.py; docs/nd_parallelism"},
    Page{"CP307", "A head is computed whole on one rank, so TP divides the attention heads.",
         {"tensor_model_parallel_size: 32", "--world-size 32", megatron}, {"tensor_model_parallel_size: 8", "--world-size 32", megatron}, "Megatron, core/transformer/transformer_config.py"},
    Page{"CP308", "Key-value heads divide over TP, or TP is a multiple of them and several ranks hold a copy of one. Megatron makes the copies; Hugging Face's and torchtitan's TP cut through a head and fail, so there it is a warning.",
         {"num_attention_heads: 24\nhidden_size: 1536\ngroup_query_attention: true\nnum_query_groups: 6\ntensor_model_parallel_size: 4", "--world-size 4", megatron},
         {"num_attention_heads: 24\nhidden_size: 1536\ngroup_query_attention: true\nnum_query_groups: 4\ntensor_model_parallel_size: 4", "--world-size 4", megatron}, "Megatron, core/transformer/transformer_config.py"},
    Page{"CP314", "accelerate combines TP and CP with sharded data parallelism, not with plain replicas.",
         {"tensor_parallel_size: 2\ndp_replicate_size: 4", "--world-size 8"}, {"tensor_parallel_size: 2\ndp_shard_size: 4\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "accelerate, parallelism_config.py"},
    Page{"CP316", "Sequence parallelism splits norms and residuals between the ranks of a TP group. Megatron turns it off at TP 1 without a word, so that the memory that was planned on it is not saved.",
         {"sequence_parallel: true", "", megatron}, {"sequence_parallel: true\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP317", "The framework reads 0 as unset, which means 1.",
         {"context_parallel_size: 0"}, {"context_parallel_size: 1"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP319", "With FSDP axolotl fills dp_shard with every rank that nothing else takes, also over an explicit 1.",
         {"dp_shard_size: 1\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, {"dp_shard_size: 8\nfsdp_version: 2\nfsdp_config: {auto_wrap_policy: TRANSFORMER_BASED_WRAP}", "--world-size 8"}, "axolotl, utils/distributed.py"},
    Page{"CP366", "What is overlapped are the all-gathers and reduce-scatters of sequence parallelism.",
         {"tp_comm_overlap: true\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, {"tp_comm_overlap: true\nsequence_parallel: true\ntensor_model_parallel_size: 2", "--world-size 2", megatron}, "Megatron, training/arguments.py"},
    Page{"CP379", "Kernels of several streams start in the order of their launches only over one connection, which the overlap of TP and CP relies on before Blackwell; FSDP needs more than one.",
         {"ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 8\nMODEL_ARGS:\n  --num-layers: 24\n  --hidden-size: 1024\n  --num-attention-heads: 16\n  --seq-length: 4096\n  --max-position-embeddings: 4096\n  --micro-batch-size: 2\n  --train-iters: 10\n  --tensor-model-parallel-size: 2\n", "--world-size 2", Base::none},
         {"ENV_VARS:\n  CUDA_DEVICE_MAX_CONNECTIONS: 1\nMODEL_ARGS:\n  --num-layers: 24\n  --hidden-size: 1024\n  --num-attention-heads: 16\n  --seq-length: 4096\n  --max-position-embeddings: 4096\n  --micro-batch-size: 2\n  --train-iters: 10\n  --tensor-model-parallel-size: 2\n", "--world-size 2", Base::none}, "Megatron, training/arguments.py"},
};
// clang-format on

}  // namespace

std::span<const Page> degree_pages() {
  return table;
}

}  // namespace cpplan::diag
