#pragma once
// What `cpplan plan` computes of a config: facts with their sources, as data. report/ prints it,
// run executes it.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cluster/environment.hpp"
#include "cluster/hardware.hpp"
#include "config/training_config.hpp"
#include "data/lengths.hpp"
#include "diag/diagnostic.hpp"
#include "layout/parallel_dims.hpp"
#include "layout/ranks.hpp"
#include "model/model_spec.hpp"

namespace cpplan::plan {

/// --as: whose arithmetic is shown beside the right one.
enum class Version { axolotl_0_14, axolotl_3444, axolotl_0_15, megatron };

/// Every rank writes what it holds into the files, or all send it to rank 0, which alone writes.
enum class CheckpointWriter : std::uint8_t { direct, gather };

/// What the command line or the environment adds to the file.
struct PlanInputs {
  std::optional<Index> world_size, nodes, gpus_per_node;
  std::optional<Index> launched;    // ranks that --launch-command starts
  std::optional<Index> rows;        // as loaded: the validation split is still to be taken off
  std::optional<Index> train_rows;  // what the trainer sees
  std::optional<Index> total_tokens, eval_tokens;   // of the training and the evaluation set
  std::shared_ptr<const data::RowLengths> lengths;  // --lengths: as loaded, before any filter
  std::optional<Version> as;                        // --as: plan/as_version.hpp parses its names
  std::optional<Index> global_batch;
  std::optional<layout::Order> order;
  std::vector<Index> documents;                      // tokens of each, of one packed sequence
  std::optional<cluster::HardwareProfile> hardware;  // goes before that of cpplan.cluster.gpu
  bool shrink = false;     // plan for a tiny model and short sequences of the same divisibility
  bool synthetic = false;  // made-up text
  std::optional<Index> save_every;  // optimizer steps from one checkpoint to the next
  CheckpointWriter checkpoint_writer = CheckpointWriter::direct;
  bool resume = false;  // from the newest checkpoint, where there is one
};

struct World {
  Index size = 1;
  std::string
      source;  // "--world-size", "WORLD_SIZE", "cpplan.cluster", "product of the degrees", ...
  std::optional<Index> nodes, gpus_per_node;  // where a source gives them
};

struct Batch {
  Index micro_batch_size = 1, gradient_accumulation_steps = 1;
  Index effective_world_size = 1;  // DP: ranks of one TP x CP x PP block share a batch
  Index batch_size = 1;  // micro * accumulation * DP, or as written * DP; 0: beyond 64 bits
  Index eval_batch_size = 1;
  Index sequence_len = 0;
  Index tokens_per_step = 0;  // batch_size * sequence_len; 0: beyond 64 bits
};

/// --global-batch N: which accumulation gives it, else the nearest on both sides.
struct GlobalBatch {
  Index wanted = 0;
  std::optional<Index> gradient_accumulation_steps;
  std::vector<Index> nearest;  // global batches that can be had
};

struct LearningRatePoint {
  std::string at;  // "first step", "end of warm-up", "half way", "last step"
  Index step = 0;  // from 1
  double value = 0;
};

/// A name of the plan and how its value came about, the numbers put in: for --explain.
struct Formula {
  std::string name;  // "train_rows", "batch_size", "total_num_steps", ...
  std::string text;
};

enum class SamplerKind { sequential, random };

/// Sample packing, replayed on the lengths of the rows. JSON names are those of the members, below
/// "packing", where no other is given.
struct Packing {
  std::string method;  // "first-fit" or "next-fit"
  SamplerKind sampler = SamplerKind::random;
  Index bin_capacity = 0;    // tokens
  Index bins_per_batch = 1;  // micro_batch_size where the attention cannot take one row of it all
  Index rows_per_bin = 0, group_size = 0;
  Index replays = 0;  // orders of the rows that were packed: 1 is exact
  Index bins = 0;     // of an epoch; with a random sampler the mean, rounded
  Index min_bins = 0, max_bins = 0;
  Index batches = 0;          // micro-batches of all data-parallel ranks; 0: no full one
  Index data_loader_len = 0;  // max(1, batches * micro_batch_size // batch_size)
  double efficiency = 0;      // tokens of the bins that are trained on, of their room
  /// ceil(100 * efficiency) / 100 as the framework counts it: where a last batch is dropped its
  /// bins leave the room, but not the tokens.
  std::optional<double> sample_packing_eff_est;
  Index min_steps = 0, max_steps = 0;  // of the replays, before max_steps
};

/// Every `interval` optimizer steps, or at the end of each epoch; none where `strategy` is "no".
struct Points {
  std::string strategy;           // "steps", "epoch", "no", "best"
  std::optional<Index> interval;  // JSON: save_steps, eval_steps
  Index count = 0;                // JSON: saves, evals
  std::vector<Index> steps;       // JSON: save_points, eval_points; the first 1,000
};

struct Steps {
  std::optional<Index> total_num_steps;  // none without rows, lengths, tokens or max_steps
  /// "plain", "packing (estimate)", "packing (measured)", "streaming", "max_steps",
  /// "epochs" (the framework's own count is none, and its trainer counts epochs), "megatron"
  std::string path;
  std::string formula;            // with the numbers put in
  std::vector<Formula> formulas;  // of everything below, in the order it is computed
  double num_epochs = 1;
  std::optional<Index> rows, rows_after_shard;         // as loaded; of this shard
  std::optional<Index> rows_too_long, rows_too_short;  // of the length filter, if lengths are known
  std::optional<Index> train_rows, eval_rows;          // after the split
  std::optional<Index> total_num_tokens, eval_num_tokens;  // of these rows
  /// What the framework computes as its number of steps before max_steps: negative, 0 or fractional
  /// where packing is estimated on little data. JSON: upstream_value.
  std::optional<double> upstream_value;
  /// The same of the validation rows, where they are packed: the framework refuses 0.
  std::optional<double> eval_num_steps;
  std::optional<Index> trainer_max_steps;  // what the trainer really runs: max_steps wins there
  std::optional<double> epochs;            // passes over the data that trainer_max_steps make
  std::optional<Index> steps_per_epoch;    // optimizer steps, as the trainer counts them
  std::optional<Index> warmup_steps;
  double learning_rate = 0;
  std::string lr_scheduler;
  double min_lr_ratio = 0;
  std::vector<LearningRatePoint> learning_rates;
  std::optional<Packing> packing;  // where rows are packed and their lengths are known
  Points saves, evals;
};

/// What another version computes for this config. JSON: below "as".
struct AsVersion {
  std::string version;                    // "axolotl@0.14"
  Index batch_size = 0;                   // 0: beyond 64 bits
  std::optional<double> total_num_steps;  // JSON: steps; its own count, usable or not
  std::string batch_formula, steps_formula;
  std::optional<Index> right_steps;  // of this plan
  std::optional<double> step_ratio;  // its steps over the right ones
  std::optional<double> epochs;      // passes over the data that its steps make
  std::string verdict;               // one sentence: what differs, by how much and why
};

/// Rows of a table: what a dimension splits, what it copies, what it costs.
struct DimensionRow {
  std::string dimension;  // "tp", "cp", ...
  Index size = 1;
  std::string splits, copies, collective;
  std::optional<Bytes> bytes_per_step;  // sent by one rank; none where the model is not known
};

struct SequenceLayout {
  std::string kind;                        // "head_tail", "contiguous", "striped"
  std::vector<std::vector<Index>> chunks;  // of rank r: numbers of its chunks; up to 65,536 ranks
  Index chunk_tokens = 0;
  Index padded_sequence_len = 0;
  Index pad_tokens = 0;  // of one sequence
  double imbalance = 1;  // causal work, greatest rank over mean
};

/// Causal pairs of each context-parallel rank, and the greatest over the mean.
struct DocumentWork {
  std::vector<Index> pairs;
  double imbalance = 1;
};

/// --documents: one packed sequence, document by document.
struct DocumentLayout {
  Index multiple = 1;                          // that each is padded to
  std::vector<Index> lengths, padded_lengths;  // of each document
  std::vector<Index> cu_seqlens, cu_seqlens_padded;
  Index tokens_per_rank = 0;                    // rows, padding included
  DocumentWork head_tail, contiguous, striped;  // empty beyond 4,096 context-parallel ranks
};
inline constexpr int most_listed_cp_ranks = 4096;

struct LayoutPlan {
  layout::ParallelDims dims;
  layout::Order order = layout::megatron_order;
  Index dp_shard = 1, dp_replicate = 1, ep = 1;
  std::vector<int> stage_layers;  // empty where the model is not known
  std::vector<DimensionRow> dimensions;
  Index weight_shards = 1, weight_replicas = 1;
  std::optional<double> bubble_fraction;  // of a pipeline: (p-1) / (v M + p-1)
};

/// Bytes of one rank of our engine by what they hold.
struct EngineBytes {
  Bytes parameters, gradients, optimizer, activations, buffers, total;
  Bytes snapshot;  // host memory from which a checkpoint is written while training goes on
};

/// Arenas of the heaviest rank, from the meta run: what `cpplan run` allocates. JSON:
/// memory.engine.
struct EngineMemory : EngineBytes {
  int heaviest_rank = 0;
  Bytes remote;                           // of buffers: rows of other context-parallel ranks
  EngineBytes peak;                       // held when most is held at once
  std::string peak_action;                // "forward", "loss", "backward", "update"
  std::optional<Index> peak_layer;        // of forward and backward; none: the embedding
  std::optional<Index> peak_micro_batch;  // of all but the update; both count from 0
};

/// Checkpoints that a run keeps and begins with.
struct Checkpoints {
  enum class Start : std::uint8_t {
    initial,  // weights of base_model's folder, or drawn from the seed
    newest,   // of start_folder; the first run finds none there
    named     // start_folder itself
  } start = Start::initial;
  std::string start_folder, folder;  // as the config has them; relative: to the working directory
  std::optional<Index> interval;     // none: after the last step, and when a signal asks for one
  std::optional<Index> keep;         // the newest; none: all
  std::optional<Index> retain_interval;  // beside the newest those of every so many steps stay
  CheckpointWriter writer = CheckpointWriter::direct;
};

enum class MemoryKind : std::uint8_t { parameters, gradients, optimizer, activations, transient };

/// One addend of the framework's memory. `formula` has the numbers put in: "2 * 3,093,299,200".
struct MemoryTerm {
  MemoryKind kind = MemoryKind::parameters;
  std::string name, formula;
  Bytes bytes;
};

enum class Fit : std::uint8_t { unknown, fits, exceeds };

/// What the framework that the config belongs to takes on a rank, by closed formula: of the
/// heaviest pipeline stage, at the moment of the step when it takes most. All other memory of the
/// GPU, that of CUDA's context and of NCCL's buffers, is not in it.
struct FrameworkMemory {
  std::string framework;  // "axolotl", "megatron"
  std::string sharding;   // "FSDP over 8 ranks", "distributed optimizer over 4 ranks"
  std::string peak;       // "loss" or "backward of a layer": what `transient` is of
  std::vector<std::string> assumptions;  // what the config leaves open and the formulas decide
  std::vector<MemoryTerm> terms;         // largest first; none of 0 bytes; their sum is the total
  Bytes parameters, gradients, optimizer, activations, transient, total;  // sums by kind
  Index trainable_parameters = 0;                                         // of the whole model
  int heaviest_stage = 0, heaviest_rank = 0;
  std::string gpu;                 // of cpplan.cluster.gpu, as the table calls it; empty: not known
  std::optional<Bytes> gpu_bytes;  // that it leaves to a program
  Fit fit = Fit::unknown;
};

/// FLOPs of one step of our engine, of every op, from the meta run of each rank that differs.
struct EngineFlops {
  Flops busiest;
  int busiest_rank = 0;
  double mean = 0;                 // of all ranks
  double attention_imbalance = 1;  // of CP ranks: most attention FLOPs over the mean
  double formula = 0;              // the model's FLOPs by closed formula, over the ranks
};

/// Seconds that a rank has nothing to compute while messages of the group are under way.
struct ExposedRow {
  std::string group;
  double seconds = 0;
};

/// One step of our engine on a hardware profile, simulated. Of its parts, means over the ranks.
struct StepTime {
  std::string hardware, precision;
  double seconds = 0;
  double compute_seconds = 0;
  double bubble_seconds = 0;     // waiting for other pipeline stages
  double imbalance_seconds = 0;  // waiting for ranks of the same stage that have more to do
  double exposed_seconds = 0;    // the sum of:
  std::vector<ExposedRow> exposed;
  double model_flops = 0, executed_flops = 0;  // of the world: by formula; of every op
  double tokens_per_second_per_gpu = 0;
  double mfu = 0, hfu = 0;  // model's and executed FLOPs over those that the world could do
};

/// What a rank sends in one step, of one kind.
struct TrafficRow {
  std::string group, collective;
  Bytes bytes;
  Index messages = 0;
  std::optional<double> formula_bytes;  // by closed formula: a second opinion
  std::string formula;                  // with the numbers put in
};

/// Ranks of a pipeline stage that send the same.
struct EngineRankClass {
  int rank = 0;  // the first of them
  int stage = 0;
  Index ranks = 1;
  Bytes bytes;  // of all kinds
  Index messages = 0;
  std::vector<TrafficRow> traffic;
};

/// JSON: communication.engine.
struct EngineCommunication {
  std::vector<EngineRankClass> classes;  // by their first ranks
  std::size_t heaviest = 0;              // which of them sends most
  const EngineRankClass& heaviest_class() const { return classes[heaviest]; }
};

/// What Megatron's dialect has beside the rest.
struct MegatronPlan {
  Index global_batch_size = 0;  // as it counts samples; 0: beyond 64 bits
  std::optional<Index> padded_vocab_size, virtual_stages;
};

struct Plan {
  config::TrainingConfig config;
  cluster::Environment environment;
  World world;
  Batch batch;
  std::optional<GlobalBatch> global_batch;
  Steps steps;
  std::optional<AsVersion> as_version;
  std::optional<MegatronPlan> megatron;
  LayoutPlan layout;
  SequenceLayout framework_layout, engine_layout;
  std::optional<DocumentLayout> documents;
  std::optional<model::ModelSpec> model;
  std::optional<FrameworkMemory> framework_memory;  // none where the model is not known
  // One fp32 copy of a micro-batch's logits on a rank; none without a vocab_size, or where a fused
  // loss never makes them.
  std::optional<Bytes> logits_fp32_bytes_per_rank;
  std::optional<EngineMemory> engine_memory;
  std::optional<EngineCommunication> engine_communication;
  std::string no_engine;  // why there is none of both: what the engine cannot do
  std::optional<EngineFlops> engine_flops;
  std::optional<cluster::HardwareProfile> hardware;  // from a file, or of cpplan.cluster.gpu
  std::optional<StepTime> time;  // none without a hardware profile, or where it has no such rate
  std::string no_time;           // why
  std::optional<Checkpoints> checkpoints;  // none: the run keeps none
  diag::Diagnostics diagnostics;           // of planning; rules/ adds its own
};

}  // namespace cpplan::plan
