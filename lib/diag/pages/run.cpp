// CP3: batch, steps, data.
#include <array>

#include "diag/pages.hpp"

namespace cpplan::diag {
namespace {

constexpr auto megatron = Base::megatron;

// clang-format off
constexpr std::array table = {
    Page{"CP320", "A step is a whole number of micro-batches on every data-parallel rank.",
         {"global_batch_size: 100", "--world-size 8", megatron}, {"global_batch_size: 96", "--world-size 8", megatron}, "Megatron, core/num_microbatches_calculator.py"},
    Page{"CP321", "Counts of rows and tokens are 64-bit numbers.",
         {"sequence_len: 4294967296"}, {"sequence_len: 1048576"}, "this program's arithmetic"},
    Page{"CP323", "Every size that a batch grows through is a whole number of micro-batches on every rank; thresholds start at 0 and grow.",
         {"global_batch_size: 64\nrampup_batch_size: [10, 10, 1000]", "--world-size 8", megatron}, {"global_batch_size: 64\nrampup_batch_size: [16, 16, 1000]", "--world-size 8", megatron}, "Megatron, core/num_microbatches_calculator.py"},
    Page{"CP330", "There is nothing to train on, or less than one step of it.",
         {"num_epochs: 1", "--rows 0"}, {"num_epochs: 1", "--rows 1000"}, "axolotl, utils/trainer.py"},
    Page{"CP331", "The learning rate never reaches what the config asks for.",
         {"warmup_steps: 500", "--train-rows 400"}, {"warmup_steps: 10", "--train-rows 400"}, "axolotl, core/builders/base.py"},
    Page{"CP332", "A run is counted in iterations or in samples, and the lengths of decay and warm-up with it.",
         {"lr_warmup_samples: 1000", "", megatron}, {"lr_warmup_iters: 10", "", megatron}, "Megatron, training/arguments.py"},
    Page{"CP333", "A stream has no length that epochs could count.",
         {"streaming: true"}, {"streaming: true\nmax_steps: 1000"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP334", "The trainer takes max_steps as it stands and loops over the data, while the log, the warm-up and the schedule count the steps of num_epochs.",
         {"num_epochs: 1\nmax_steps: 2000", "--train-rows 400"}, {"num_epochs: 1\nmax_steps: 50", "--train-rows 400"}, "axolotl, core/builders/base.py and utils/data/sft.py"},
    Page{"CP335", "The memory that training fits in says nothing of an evaluation with other rows, and the allocator fragments.",
         {"eval_batch_size: 8"}, {"eval_batch_size: 1"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP336", "A share of 1 or a count above the rows leaves nothing to train on.",
         {"val_set_size: 5000", "--rows 1000"}, {"val_set_size: 0.05", "--rows 1000"}, "axolotl, utils/data/sft.py"},
    Page{"CP337", "A stream cannot be split before it is read.",
         {"streaming: true\nmax_steps: 10\nval_set_size: 0.1"}, {"streaming: true\nmax_steps: 10"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP338", "Preference training compares whole samples.",
         {"rl: dpo\nsample_packing: true"}, {"rl: dpo"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP339", "All answers to one prompt are compared within a batch: micro * accumulation is a multiple of num_generations, and reaches num_generations * world. Ranks of a context-parallel group share their prompts and count once.",
         {"rl: grpo\ntrl: {num_generations: 8}\nmicro_batch_size: 8\ngradient_accumulation_steps: 1", "--world-size 2"}, {"rl: grpo\ntrl: {num_generations: 8}\nmicro_batch_size: 8\ngradient_accumulation_steps: 2", "--world-size 2"}, "axolotl, utils/schemas/validation.py and core/trainers/grpo"},
    Page{"CP348", "excess_length_strategy: raise is a check of the data: the first row that is longer than sequence_len ends the run while datasets are prepared.",
         {"sequence_len: 4096\nexcess_length_strategy: raise", "--lengths - <<< 9000"}, {"sequence_len: 4096\nexcess_length_strategy: truncate", "--lengths - <<< 9000"}, "axolotl, utils/data/utils.py and utils/trainer.py"},
    Page{"CP349", "The validation split is packed like the training rows unless eval_sample_packing says otherwise, and axolotl stops where that makes no step.",
         {"sample_packing: true\nsample_packing_eff_est: 0.95\nval_set_size: 0.01", "--rows 100000 --total-tokens 50000000 --eval-tokens 100"}, {"sample_packing: true\nsample_packing_eff_est: 0.95\nval_set_size: 0.01\neval_sample_packing: false", "--rows 100000 --total-tokens 50000000 --eval-tokens 100"}, "axolotl, utils/trainer.py"},
    Page{"CP390", "save_steps and eval_steps, and their counts by epoch, mean the strategy `steps`.",
         {"eval_steps: 10\neval_strategy: epoch\nval_set_size: 0.1"}, {"eval_steps: 10\neval_strategy: steps\nval_set_size: 0.1"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP391", "There are no rows to evaluate on.",
         {"eval_steps: 10\nval_set_size: 0"}, {"eval_steps: 10\nval_set_size: 0.05"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP392", "The best checkpoint is one that was evaluated, so every checkpoint falls on an evaluation.",
         {"early_stopping_patience: 3\nsave_steps: 15\neval_steps: 10\nval_set_size: 0.1"}, {"early_stopping_patience: 3\nsave_steps: 20\neval_steps: 10\nval_set_size: 0.1"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP393", "The count for evaluation runs first and multiplies 0.99 by tokens that nobody has counted yet: a TypeError.",
         {"sample_packing: true\nsample_packing_eff_est: 0.95\nval_set_size: 0.05"}, {"sample_packing: true\nsample_packing_eff_est: 0.95\nval_set_size: 0.05\neval_sample_packing: false"}, "axolotl, utils/data/sft.py and utils/trainer.py"},
    Page{"CP394", "The table shows single answers, which packed rows do not keep apart.",
         {"sample_packing: true\neval_table_size: 5"}, {"sample_packing: true\neval_table_size: 5\neval_sample_packing: false"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP395", "Packed rows of different lengths fragment the memory.",
         {"sample_packing: true\npad_to_sequence_len: false"}, {"sample_packing: true\npad_to_sequence_len: true"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP396", "axolotl packs a stream of one dataset alone.",
         {"streaming: true\nmax_steps: 10\nsample_packing: true\ndatasets: [{path: a, type: completion}, {path: b, type: completion}]"}, {"streaming: true\nmax_steps: 10\nsample_packing: true\ndatasets: [{path: a, type: completion}]"}, "axolotl, utils/schemas/validation.py"},
    Page{"CP397", "The learning rate decays from lr down to min_lr.",
         {"min_lr: 0.01", "", megatron}, {"min_lr: 0.00001", "", megatron}, "Megatron, training/arguments.py"},
    Page{"CP398", "Only a checkpoint that was saved can be kept.",
         {"save_interval: 100\nsave_retain_interval: 250", "", megatron}, {"save_interval: 100\nsave_retain_interval: 200", "", megatron}, "Megatron, training/arguments.py"},
    Page{"CP399", "auto_find_batch_size halves the micro-batch until it fits, so that batch, steps and warm-up of a plan are those of the first try.",
         {"auto_find_batch_size: true"}, {"auto_find_batch_size: false"}, "axolotl, core/builders/causal.py"},
};
// clang-format on

}  // namespace

std::span<const Page> run_pages() {
  return table;
}

}  // namespace cpplan::diag
