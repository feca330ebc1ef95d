// CP1: keys and the types of their values.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto whole = Base::none;

// clang-format off
constexpr std::array table = {
    Page{"CP101", "The framework drops keys it does not know without a word, so a misspelled setting falls back to its default.",
         {"context_parallel_sise: 2"}, {"context_parallel_size: 2", "--world-size 2"}, "axolotl, utils/schemas/config.py: extra keys are ignored"},
    Page{"CP102", "Below cpplan: every key is this program's own, and nothing else would report a wrong one.",
         {"cpplan: {model: {hiden_size: 64}}"}, {"cpplan: {model: {hidden_size: 64}}"}, "this program's keys, configs/README.md"},
    Page{"CP103", "The other framework's name means nothing here, and its value is lost.",
         {"tensor_model_parallel_size: 2", "--world-size 2"}, {"tensor_parallel_size: 2", "--world-size 2"}, "axolotl's and Megatron's keys"},
    Page{"CP104", "The framework's schema refuses the value.",
         {"sequence_len: 4096.5"}, {"sequence_len: 4096"}, "axolotl, utils/schemas/config.py; pydantic's lax mode"},
    Page{"CP105", "The framework has no default for it.",
         {"learning_rate: 0.0001\ndatasets: [{path: d, type: completion}]\nmicro_batch_size: 1\ngradient_accumulation_steps: 1\n", "", whole}, {"max_steps: 10"}, "axolotl, utils/schemas"},
    Page{"CP106", "Null counts as a value there, and the framework fails on it.",
         {"val_set_size:"}, {"val_set_size: 0"}, "axolotl, utils/data/sft.py: None > 1"},
    Page{"CP107", "YAML 1.1 reads digits between colons in base 60: 10:00 is 600. YAML 1.2 reads a text.",
         {"max_steps: 10:00"}, {"max_steps: 600"}, "YAML 1.1's types, PyYAML's resolver"},
    Page{"CP108", "A leading zero makes an octal number in YAML 1.1: 010 is 8.",
         {"max_steps: 010"}, {"max_steps: 10"}, "YAML 1.1's types"},
    Page{"CP109", "Readers differ on such a number, though the framework takes it as it is meant.",
         {"learning_rate: 2e-5"}, {"learning_rate: 0.00002"}, "YAML 1.1's types; pydantic's lax mode"},
    Page{"CP110", "A quoted \"false\" is a text, and in Python a text that is not empty is true.",
         {"sample_packing: \"false\""}, {"sample_packing: false"}, "axolotl's validators before coercion"},
    Page{"CP111", "YAML 1.1 makes a date of it, which the framework cannot use as a text.",
         {"run_name: 2024-01-01"}, {"run_name: \"2024-01-01\""}, "YAML 1.1's types"},
    Page{"CP112", "The key takes one of a few words.",
         {"excess_length_strategy: split"}, {"excess_length_strategy: truncate"}, "axolotl, utils/schemas"},
    Page{"CP113", "The framework still reads the old name and warns; the next version may not.",
         {"sequence_parallel_degree: 2", "--world-size 2"}, {"context_parallel_size: 2", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP114", "The framework stops at it.",
         {"max_packed_sequence_len: 4096"}, {"sample_packing: true\nsequence_len: 4096"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP115", "Both say the same thing, possibly differently, and the framework stops where they stand together.",
         {"warmup_steps: 10\nwarmup_ratio: 0.1"}, {"warmup_steps: 10"}, "axolotl, utils/schemas/validation.py; Megatron, training/arguments.py"},
    Page{"CP116", "The setting is read and then does nothing, which is rarely what was meant.",
         {"max_steps: 0"}, {"max_steps: 100"}, "axolotl, utils/data/sft.py: 0 counts as unset"},
    Page{"CP117", "Numbers beyond 64 bits overflow in kernels and files, though Python goes on.",
         {"max_steps: 9223372036854775808"}, {"max_steps: 100"}, "64-bit counters of torch"},
    Page{"CP118", "None of the keys of a training config stands in it.",
         {"provider: modal\n", "", whole}, {"max_steps: 10"}, "axolotl's and Megatron's keys"},
    Page{"CP119", "The framework's schema has no bounds there, and a value out of range makes batches or steps negative.",
         {"gradient_accumulation_steps: -4"}, {"gradient_accumulation_steps: 4"}, "axolotl, utils/schemas/training.py: no ge="},
    Page{"CP120", "The framework counts what the file says, not the defaults of 1.",
         {"base_model: ./models/tiny\nlearning_rate: 0.0001\ndatasets: [{path: d, type: completion}]\nmicro_batch_size: 1\n", "", whole}, {"micro_batch_size: 1\ngradient_accumulation_steps: 1"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP121", "batch_size is per data-parallel rank and multiplied by the effective world size; accumulation stays at 1, so a step takes fewer rows than are counted.",
         {"base_model: ./models/tiny\nlearning_rate: 0.0001\ndatasets: [{path: d, type: completion}]\nmicro_batch_size: 2\nbatch_size: 64\n", "", whole}, {"micro_batch_size: 2\ngradient_accumulation_steps: 32"}, "axolotl, utils/config/__init__.py"},
    Page{"CP122", "A check that runs before coercion compares the text with a number and stops with a TypeError.",
         {"tensor_parallel_size: \"2\"\ndeepspeed: ds.json", "--world-size 2"}, {"tensor_parallel_size: 2\ndeepspeed: ds.json", "--world-size 2"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP123", "no, off and false are booleans in YAML 1.1, which the framework reads as 0 where it wants a number.",
         {"max_steps: no"}, {"max_steps: 100"}, "pydantic's lax mode"},
    Page{"CP124", "The framework looks for the key in its section alone and takes the default where it is not there.",
         {"micro_batch_size: 2\nglobal_batch_size: 16\ntensor_model_parallel_size: 4\nlanguage_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\nmodel_parallel:\n  pipeline_model_parallel_size: 1\nseq_length: 4096\nmax_position_embeddings: 4096\ntrain_iters: 10\n", "--world-size 8", whole},
         {"micro_batch_size: 2\nglobal_batch_size: 16\nlanguage_model:\n  num_layers: 24\n  hidden_size: 1024\n  num_attention_heads: 16\nmodel_parallel:\n  tensor_model_parallel_size: 4\nseq_length: 4096\nmax_position_embeddings: 4096\ntrain_iters: 10\n", "--world-size 8", whole}, "Megatron, training/yaml_arguments.py"},
    Page{"CP125", "The flags of MODEL_ARGS are handed to Megatron's own parser of the command line, which knows one spelling.",
         {"MODEL_ARGS:\n  --num-layers: 24\n  --hidden-size: 1024\n  --num-attention-heads: 16\n  --seq-length: 4096\n  --max-position-embeddings: 4096\n  --micro_batch_size: 2\n  --train-iters: 10\n", "", whole},
         {"MODEL_ARGS:\n  --num-layers: 24\n  --hidden-size: 1024\n  --num-attention-heads: 16\n  --seq-length: 4096\n  --max-position-embeddings: 4096\n  --micro-batch-size: 2\n  --train-iters: 10\n", "", whole}, "Megatron, training/arguments.py"},
    Page{"CP130", "A value given in place of the file's is YAML, too.",
         {"max_steps: 10", "--set max_steps=[1"}, {"max_steps: 10", "--set max_steps=20"}, "this program's --set"},
};
// clang-format on

}  // namespace

std::span<const Page> key_pages() {
  return table;
}

}  // namespace cpplan::diag
