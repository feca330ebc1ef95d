// CP2 and CP4: the model and its memory.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP201", "Without dimensions the rules on heads and layers see nothing, and memory cannot be computed. It is a note: a folder that is not here is no mistake.",
         {"base_model: meta-llama/Llama-3.1-8G"}, {"base_model: meta-llama/Llama-3.1-8B"}, "configs/models and Hugging Face's config.json"},
    Page{"CP202", "Each head takes hidden_size / num_attention_heads features, unless the model gives its heads a width of their own.",
         {"num_attention_heads: 15", "", megatron}, {"num_attention_heads: 16", "", megatron}, "Megatron, training/arguments.py"},
    Page{"CP203", "With grouped queries each key-value head serves the same number of attention heads.",
         {"overrides_of_model_config: {num_attention_heads: 32, num_key_value_heads: 5}"}, {"overrides_of_model_config: {num_attention_heads: 32, num_key_value_heads: 8}"}, "grouped-query attention"},
    Page{"CP204", "A model has at least one of everything, and no more than can be counted.",
         {"overrides_of_model_config: {num_attention_heads: -1}"}, {"overrides_of_model_config: {num_attention_heads: 16}"}, "this program's arithmetic"},
    Page{"CP205", "Megatron stops where the sequence is longer than the positions of the model. axolotl goes on: RoPE extends to any length, but positions that training has never seen work badly.",
         {"seq_length: 8192", "", megatron}, {"seq_length: 4096", "", megatron}, "Megatron, training/arguments.py: max_position_embeddings >= seq_length"},
    Page{"CP401", "The ranks of a run share the memory of this machine; what does not fit is killed in the middle of a step.",
         {}, {}, "the meta run of the engine, which sizes every arena"},
    Page{"CP402", "The output layer makes one number a token and word of the vocabulary. In fp32 one copy is tokens * vocabulary * 4 bytes, and a loss holds two or three: at long sequences they set the peak, not attention.",
         {"sequence_len: 131072\noverrides_of_model_config: {vocab_size: 128256}"}, {"sequence_len: 4096\noverrides_of_model_config: {vocab_size: 128256}"}, "measurements of Hugging Face's losses at long sequences"},
    Page{"CP403", "Parameters, gradients, optimizer states, activations and what is there only for a moment stand on the GPU at once at the worst moment of a step. The finding names the parts, largest first.",
         {"base_model: meta-llama/Llama-3.1-70B\ncpplan: {cluster: {gpu: h100-80g}}", "--world-size 8"}, {"base_model: meta-llama/Llama-3.2-1B\ncpplan: {cluster: {gpu: h100-80g}}", "--world-size 8"}, "the closed formulas of docs/numbers.md"},
};
// clang-format on

}  // namespace

std::span<const Page> model_pages() {
  return table;
}

}  // namespace cpplan::diag
