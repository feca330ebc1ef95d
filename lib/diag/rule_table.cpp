#include "diag/rule_table.hpp"

#include <algorithm>
#include <array>

#include "base/contract.hpp"

namespace cpplan::diag {
namespace {

constexpr Severity error = Severity::error, warning = Severity::warning, note = Severity::note;

// One row a line, sorted by id. Areas: CP0 syntax, CP1 keys and types, CP2 model, CP3 parallelism,
// CP4 memory, CP5 cluster and launch.
// clang-format off
constexpr std::array table = {
    Rule{"CP001", "yaml-syntax", error, "the file can be read as YAML 1.1"},
    Rule{"CP002", "tab-character", error, "spaces, never tabs, separate the tokens of YAML"},
    Rule{"CP003", "duplicate-key", error, "a key stands once in its mapping"},
    Rule{"CP004", "file-encoding", error, "the file is UTF-8 text without control characters"},
    Rule{"CP005", "invisible-character", error, "no invisible character stands outside quotes and comments"},
    Rule{"CP006", "undefined-alias", error, "an alias names an anchor that stands before it"},
    Rule{"CP007", "recursive-alias", error, "an anchor does not contain itself"},
    Rule{"CP008", "several-documents", error, "the file holds one document"},
    Rule{"CP009", "empty-config", error, "the file holds at least one setting"},
    Rule{"CP010", "root-not-mapping", error, "the top level of the file is a mapping of keys to values"},
    Rule{"CP011", "nesting-too-deep", error, "collections nest at most 100 levels deep"},
    Rule{"CP012", "unsupported-tag", error, "values carry only the tags of YAML's own types"},
    Rule{"CP013", "merge-value", error, "a merge key takes a mapping or a list of mappings"},
    Rule{"CP014", "key-not-scalar", error, "a key is a single word or text"},
    Rule{"CP015", "no-break-space", warning, "only plain spaces separate words"},
    Rule{"CP101", "unknown-key", warning, "the framework knows the key"},
    Rule{"CP102", "unknown-cpplan-key", error, "a key below cpplan: is one that cpplan knows"},
    Rule{"CP103", "other-dialect-key", warning, "the key is spelled as the config's own framework spells it"},
    Rule{"CP104", "wrong-type", error, "a value has the type of its key"},
    Rule{"CP105", "missing-key", error, "the keys that the framework requires are given"},
    Rule{"CP106", "null-value", error, "null stands only where the framework takes it"},
    Rule{"CP107", "yaml-1.1-number", error, "a number is written so that every YAML reader reads the same"},
    Rule{"CP108", "octal-number", warning, "a number does not begin with a zero"},
    Rule{"CP109", "number-spelling", note, "a number is written without underscores, quotes or a bare exponent"},
    Rule{"CP110", "quoted-boolean", warning, "true and false stand without quotes"},
    Rule{"CP111", "date-value", warning, "text that looks like a date is quoted"},
    Rule{"CP112", "unknown-value", error, "a value is one of those that its key takes"},
    Rule{"CP113", "deprecated-key", warning, "a key has its present name"},
    Rule{"CP114", "removed-key", error, "the framework still accepts the key"},
    Rule{"CP115", "exclusive-keys", error, "keys that exclude each other do not stand together"},
    Rule{"CP116", "ignored-key", warning, "a setting has an effect"},
    Rule{"CP117", "number-too-large", error, "a number fits into 64 bits"},
    Rule{"CP118", "not-training-config", error, "the file is a training config"},
    Rule{"CP119", "number-range", error, "a size or a rate lies in the range that has a meaning"},
    Rule{"CP120", "batch-keys", error, "two of micro_batch_size, gradient_accumulation_steps and batch_size are given"},
    Rule{"CP121", "batch-size-meaning", warning, "batch_size is given through micro_batch_size and gradient_accumulation_steps"},
    Rule{"CP122", "quoted-degree", error, "a parallel degree that the framework compares early is not quoted"},
    Rule{"CP123", "boolean-as-number", warning, "a number is written as a number"},
    Rule{"CP124", "misplaced-key", error, "a key stands in the section where the framework looks for it"},
    Rule{"CP125", "flag-spelling", error, "a flag is written with two dashes in front and dashes between its words"},
    Rule{"CP130", "override-syntax", error, "an override is key=value, and its value is YAML"},
    Rule{"CP201", "unknown-model", note, "the dimensions of the model are known by its name or from the config"},
    Rule{"CP202", "heads-divide-hidden", error, "hidden_size is a multiple of the attention heads unless head_dim is given"},
    Rule{"CP203", "kv-heads-divide-heads", error, "each key-value head serves as many attention heads"},
    Rule{"CP204", "model-dimensions", error, "the model's dimensions are positive and its parameters can be counted"},
    Rule{"CP205", "positions-cover-sequence", error, "the model has a position for every token of a sequence"},
    Rule{"CP301", "cp-divides-sequence", error, "the sequence splits into 2*CP equal chunks"},
    Rule{"CP302", "world-size-mismatch", error, "TP * CP * PP * DP is the world size"},
    Rule{"CP303", "degree-below-one", error, "a parallel degree is at least 1"},
    Rule{"CP304", "degree-divides-world", error, "the parallel degrees divide the world size"},
    Rule{"CP305", "dp-shard-needs-fsdp", error, "dp_shard_size comes with an fsdp_config"},
    Rule{"CP306", "data-parallel-fills-world", error, "dp_replicate * dp_shard is what the other degrees leave of the world"},
    Rule{"CP307", "tp-divides-heads", error, "the attention heads divide over the tensor-parallel ranks"},
    Rule{"CP308", "tp-kv-heads", error, "the key-value heads divide over the tensor-parallel ranks"},
    Rule{"CP309", "sp-divides-tokens", error, "the tokens of a context-parallel rank divide over its tensor-parallel ranks"},
    Rule{"CP310", "packing-with-cp-micro-batch", error, "micro_batch_size is 1 where packed sequences are split by context parallelism"},
    Rule{"CP311", "cp-needs-flash-attention", error, "context parallelism comes with flash attention"},
    Rule{"CP312", "pp-divides-layers", error, "the layers divide over the pipeline stages"},
    Rule{"CP313", "pipeline-bubble", warning, "a pipeline gets at least as many micro-batches as it has stages"},
    Rule{"CP314", "ddp-with-model-parallel", error, "data-parallel replicas are sharded where TP or CP splits the model"},
    Rule{"CP315", "ep-divides-world", error, "the expert-parallel degree divides the data-parallel ranks"},
    Rule{"CP316", "sp-needs-tp", warning, "sequence parallelism has tensor-parallel ranks to split a sequence over"},
    Rule{"CP317", "zero-degree", warning, "a parallel degree is not 0"},
    Rule{"CP318", "a2a-divides-heads", error, "the heads divide over the ranks of an all-to-all"},
    Rule{"CP319", "dp-shard-overridden", warning, "an explicit dp_shard_size is the one in use"},
    Rule{"CP320", "global-batch-unreachable", error, "the wanted global batch is a multiple of micro-batch * DP"},
    Rule{"CP321", "batch-too-large", error, "the batch size and its tokens fit into 64 bits"},
    Rule{"CP323", "batch-schedule", error, "a growing global batch takes sizes that the data-parallel ranks can share"},
    Rule{"CP330", "no-steps", error, "the run takes at least one step"},
    Rule{"CP331", "warmup-longer-than-run", warning, "the warm-up ends before the run does"},
    Rule{"CP332", "run-length-units", error, "lengths of a run are all in iterations or all in samples"},
    Rule{"CP333", "streaming-needs-max-steps", error, "a streamed dataset comes with max_steps"},
    Rule{"CP334", "max-steps-beyond-epochs", warning, "max_steps is no more than num_epochs gives"},
    Rule{"CP335", "eval-batch-differs", warning, "evaluation takes batches of training's size"},
    Rule{"CP336", "validation-split", error, "the validation split leaves rows on both sides"},
    Rule{"CP337", "streaming-validation-split", error, "a streamed dataset has no val_set_size"},
    Rule{"CP338", "packing-with-rl", error, "preference training does not pack samples"},
    Rule{"CP339", "grpo-group-size", error, "groups of generated answers fill the batches of the ranks"},
    Rule{"CP340", "hierarchical-cp-sizes", error, "the levels of hierarchical context parallelism multiply to CP"},
    Rule{"CP341", "cp-comm-type-per-layer", error, "a list of communication types has one for each layer"},
    Rule{"CP342", "hybrid-cp-requirements", error, "hybrid context parallelism stands with what it can regroup"},
    Rule{"CP343", "heads-k-stride", error, "heads_k_stride divides the key-value heads of a rank"},
    Rule{"CP344", "ring-ignores-documents", warning, "packed rows meet a ring attention that knows documents"},
    Rule{"CP345", "cp-beyond-padding", warning, "the padding of sequences is a multiple of the context-parallel degree"},
    Rule{"CP346", "packing-attention", note, "packed rows meet an attention that knows documents"},
    Rule{"CP347", "window-needs-whole-keys", error, "a sliding window over context-parallel ranks comes with all-gather or all-to-all in Megatron"},
    Rule{"CP348", "row-lengths", error, "no row is longer than the sequence where the config refuses such rows"},
    Rule{"CP349", "evaluation-steps", error, "packed validation rows make at least one step"},
    Rule{"CP350", "interleaving-needs-stages", error, "virtual stages come with enough pipeline stages"},
    Rule{"CP351", "virtual-stages-divide-layers", error, "the layers of a stage divide over its virtual stages"},
    Rule{"CP352", "uneven-stages-conflict", error, "uneven end stages stand without settings that assume even ones"},
    Rule{"CP353", "interleaved-micro-batches", error, "the micro-batches of a step come in whole groups of an interleaved pipeline"},
    Rule{"CP354", "pipeline-only-setting", error, "a setting of pipelines stands in a pipeline, and one of a single stage without"},
    Rule{"CP355", "engine-schedule", error, "the engine's schedule fits the layers and the micro-batches"},
    Rule{"CP360", "ep-needs-experts", error, "expert parallelism comes with experts"},
    Rule{"CP361", "ep-divides-experts", error, "the experts divide over expert-parallel ranks and router groups"},
    Rule{"CP362", "ep-with-tp", error, "expert parallelism stands without tensor parallelism in axolotl"},
    Rule{"CP363", "ep-leaves-ranks", error, "ranks that expert parallelism leaves are given to dp_shard or CP"},
    Rule{"CP364", "ep-tp-without-sp", warning, "expert and tensor parallelism come with sequence parallelism"},
    Rule{"CP365", "ep-overlap-requirements", error, "the overlapped all-to-all of experts has something to hide behind"},
    Rule{"CP366", "tp-overlap-needs-sp", error, "overlapped tensor-parallel communication comes with sequence parallelism"},
    Rule{"CP370", "optimizer-with-sharding", error, "the optimizer works on the shards that it is given"},
    Rule{"CP371", "torch-fsdp2-requirements", error, "Megatron's use of torch's FSDP2 stands with what it can shard"},
    Rule{"CP372", "megatron-fsdp-requirements", error, "Megatron-FSDP stands with an optimizer and checkpoints that it knows"},
    Rule{"CP373", "gather-overlap-needs-sharding", error, "overlapped parameter gathers come with sharded parameters"},
    Rule{"CP374", "optimizer-instances", error, "the instances of the distributed optimizer divide its ranks"},
    Rule{"CP375", "fsdp1-with-degrees", warning, "tensor and context parallelism come with FSDP version 2"},
    Rule{"CP376", "unsharded-data-parallel", note, "data-parallel ranks beside TP or CP are sharded"},
    Rule{"CP377", "autotp-json", note, "DeepSpeed's JSON leaves tensor parallelism to the config"},
    Rule{"CP378", "checkpoint-format", error, "the checkpoint format can hold the model's shards"},
    Rule{"CP379", "cuda-connections", warning, "CUDA_DEVICE_MAX_CONNECTIONS is what the overlap of communication relies on"},
    Rule{"CP380", "recompute-settings", error, "granularity, method and number of recomputed layers fit each other"},
    Rule{"CP381", "distributed-activations", error, "saved activations are distributed only where ranks hold them twice"},
    Rule{"CP382", "offloading-needs-checkpointing", error, "activations are offloaded where checkpointing keeps them"},
    Rule{"CP383", "offloading-or-recompute", error, "activations are either offloaded or computed again"},
    Rule{"CP390", "strategy-contradicts-interval", error, "a strategy of saving or evaluating fits its interval"},
    Rule{"CP391", "evaluation-without-data", error, "an evaluation that is asked for has rows"},
    Rule{"CP392", "early-stopping-intervals", error, "early stopping finds a checkpoint at its evaluations"},
    Rule{"CP393", "packing-estimate-evaluation", error, "an estimated packing has its tokens when evaluation is counted"},
    Rule{"CP394", "eval-table-with-packing", error, "a table of evaluated answers has rows that are not packed"},
    Rule{"CP395", "packing-without-padding", warning, "packed rows are padded to one length"},
    Rule{"CP396", "several-packed-streams", error, "one dataset is streamed where samples are packed"},
    Rule{"CP397", "min-learning-rate", error, "the least learning rate is below the greatest"},
    Rule{"CP398", "retained-checkpoints", error, "checkpoints that are kept are among those that are saved"},
    Rule{"CP399", "batch-found-at-run-time", note, "the batch size is the one in the config"},
    Rule{"CP401", "machine-memory", error, "the ranks of a run fit the memory of this machine"},
    Rule{"CP402", "logits-memory", warning, "the logits of a rank are a small part of its memory"},
    Rule{"CP403", "gpu-memory", error, "what the framework holds on a rank fits its GPU"},
    Rule{"CP501", "environment-unreadable", warning, "the launcher's variables are numbers"},
    Rule{"CP502", "slurm-tasks-contradict", error, "SLURM's variables agree on the number of tasks"},
    Rule{"CP503", "world-size-not-exported", warning, "WORLD_SIZE is set, since frameworks read nothing else"},
    Rule{"CP504", "world-flags-contradict", error, "the flags agree on the number of ranks"},
    Rule{"CP505", "one-task-per-node", warning, "the tasks that SLURM starts are the ranks, or launchers of a known number of ranks"},
    Rule{"CP506", "launcher-contradicts", error, "WORLD_SIZE and ranks agree with the launcher's own count"},
    Rule{"CP510", "srun-without-pmi", error, "the tasks of a SLURM step find each other through PMI"},
    Rule{"CP511", "rank-failed", error, "every rank of a run reaches its end"},
    Rule{"CP512", "engine-cannot-run", error, "the engine can train what the config asks for"},
    Rule{"CP513", "trained-otherwise", warning, "the engine trains the model as the config has it"},
    Rule{"CP520", "launch-command-syntax", error, "the launch command is a line for a shell that starts mpirun, srun, torchrun or accelerate"},
    Rule{"CP521", "launch-flag", warning, "the launcher knows the flags it is given"},
    Rule{"CP522", "launch-slots", error, "the hosts of a launch command have a slot for each rank"},
    Rule{"CP523", "launch-as-root", error, "Open MPI is told that root may start ranks"},
    Rule{"CP524", "launch-rank-count", error, "a launch command starts as many ranks as the plan has"},
    Rule{"CP525", "launch-rendezvous", error, "launchers on several nodes are told where they meet"},
    Rule{"CP526", "launch-nested", error, "a launcher below srun starts once a node"},
    Rule{"CP527", "launch-mpi-plugin", warning, "srun starts MPI ranks through PMIx"},
    Rule{"CP530", "tensor-parallel-across-hosts", warning, "the ranks of a tensor-parallel group share a host"},
};
// clang-format on

constexpr bool is_sorted_by_id() {
  for (std::size_t i = 1; i < table.size(); ++i)
    if (!(table[i - 1].id < table[i].id)) return false;
  return true;
}
static_assert(is_sorted_by_id(), "rows of the rule table are sorted and no id stands twice");

}  // namespace

std::span<const Rule> rules() {
  return table;
}

const Rule* find_rule(std::string_view id_or_name) {
  const auto found = std::find_if(table.begin(), table.end(), [&](const Rule& rule) {
    return rule.id == id_or_name || rule.name == id_or_name;
  });
  return found == table.end() ? nullptr : &*found;
}

Diagnostic finding(std::string_view id, Span span, std::string message, Details details) {
  const Rule* rule = find_rule(id);
  expect(rule != nullptr, "a finding has a rule in the table");
  return {std::string(rule->id),      std::string(rule->name),  rule->severity,
          std::move(message),         std::move(details.label), std::move(span),
          std::move(details.related), std::move(details.why),   std::move(details.help)};
}

}  // namespace cpplan::diag
