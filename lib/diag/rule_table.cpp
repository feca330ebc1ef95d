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
    Rule{"CP317", "zero-degree", warning, "a parallel degree is not 0"},
    Rule{"CP318", "a2a-divides-heads", error, "the heads divide over the ranks of an all-to-all"},
    Rule{"CP319", "dp-shard-overridden", warning, "an explicit dp_shard_size is the one in use"},
    Rule{"CP320", "global-batch-unreachable", error, "the wanted global batch is a multiple of micro-batch * DP"},
    Rule{"CP321", "batch-too-large", error, "the batch size and its tokens fit into 64 bits"},
    Rule{"CP330", "no-steps", error, "the run takes at least one step"},
    Rule{"CP331", "warmup-longer-than-run", warning, "the warm-up ends before the run does"},
    Rule{"CP333", "streaming-needs-max-steps", error, "a streamed dataset comes with max_steps"},
    Rule{"CP334", "max-steps-beyond-epochs", warning, "max_steps is no more than num_epochs gives"},
    Rule{"CP336", "validation-split", error, "the validation split leaves rows on both sides"},
    Rule{"CP337", "streaming-validation-split", error, "a streamed dataset has no val_set_size"},
    Rule{"CP338", "packing-with-rl", error, "preference training does not pack samples"},
    Rule{"CP401", "machine-memory", error, "the ranks of a run fit the memory of this machine"},
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
