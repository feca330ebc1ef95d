// CP3: pipelines.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP312", "All stages but the first and the last have the same number of layers. Uneven ends are given by num_layers_in_first_pipeline_stage and num_layers_in_last_pipeline_stage; layers were seen to be lost without a word where nobody checked.",
         {"num_layers: 30\npipeline_model_parallel_size: 4", "--world-size 4", megatron}, {"num_layers: 30\npipeline_model_parallel_size: 5", "--world-size 5", megatron}, "Megatron, core/transformer/transformer_config.py"},
    Page{"CP313", "While a pipeline fills and drains its stages wait: (PP-1)/(M+PP-1) of the time with M micro-batches.",
         {"pipeline_parallel_size: 8\ngradient_accumulation_steps: 1", "--world-size 8"}, {"pipeline_parallel_size: 8\ngradient_accumulation_steps: 32", "--world-size 8"}, "Narayanan et al., SC'21"},
    Page{"CP350", "Virtual stages alternate between pipeline ranks: two at least, and three where sends are not overlapped, as in Megatron's YAML path.",
         {"num_virtual_stages_per_pipeline_rank: 2", "--world-size 1", megatron}, {"num_virtual_stages_per_pipeline_rank: 2\npipeline_model_parallel_size: 4", "--world-size 4", megatron}, "Megatron, training/arguments.py and yaml_arguments.py"},
    Page{"CP351", "Every virtual stage has the same number of layers.",
         {"num_layers_per_virtual_pipeline_stage: 4\npipeline_model_parallel_size: 4", "--world-size 4", megatron}, {"num_layers_per_virtual_pipeline_stage: 3\npipeline_model_parallel_size: 4", "--world-size 4", megatron}, "Megatron, training/arguments.py"},
    Page{"CP352", "Uneven ends leave no common number of layers that virtual stages, or an accounting for embedding and loss, could be derived from.",
         {"num_layers: 46\ndecoder_first_pipeline_num_layers: 10\ndecoder_last_pipeline_num_layers: 12\npipeline_model_parallel_size: 4\nnum_layers_per_virtual_pipeline_stage: 2", "--world-size 4", megatron},
         {"num_layers: 46\ndecoder_first_pipeline_num_layers: 10\ndecoder_last_pipeline_num_layers: 12\npipeline_model_parallel_size: 4\nnum_virtual_stages_per_pipeline_rank: 2", "--world-size 4", megatron}, "Megatron, training/arguments.py"},
    Page{"CP353", "An interleaved stage takes micro-batches in groups, PP of them unless more are asked for; the last group is whole or has PP.",
         {"pipeline_model_parallel_size: 4\nnum_virtual_stages_per_pipeline_rank: 2\nglobal_batch_size: 12", "--world-size 4", megatron}, {"pipeline_model_parallel_size: 4\nnum_virtual_stages_per_pipeline_rank: 2\nglobal_batch_size: 16", "--world-size 4", megatron}, "Megatron, core/pipeline_parallel/schedules.py"},
    Page{"CP354", "The setting uses the bubble of a pipeline, or moves what a single stage keeps.",
         {"defer_embedding_wgrad_compute: true", "", megatron}, {"defer_embedding_wgrad_compute: true\npipeline_model_parallel_size: 2", "--world-size 2", megatron}, "Megatron, core/model_parallel_config.py"},
    Page{"CP355", "cpplan.run.schedule and cpplan.run.virtual_stages say how the engine's pipeline runs. Interleaved, a stage holds several model chunks of as many layers, and micro-batches come in whole groups of the stages.",
         {"pipeline_parallel_size: 4\ngradient_accumulation_steps: 6\ncpplan: {run: {schedule: interleaved}}", "--world-size 4"}, {"pipeline_parallel_size: 4\ngradient_accumulation_steps: 8\ncpplan: {run: {schedule: interleaved}}", "--world-size 4"}, "Narayanan et al., SC'21"},
};
// clang-format on

}  // namespace

std::span<const Page> pipeline_pages() {
  return table;
}

}  // namespace cpplan::diag
