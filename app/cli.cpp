// The only file that knows the command-line parser: flags into option structs, subcommands by name.
#include "app/cli.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "app/exit_code.hpp"
#include "app/flags.hpp"
#include "app/subcommands.hpp"
#include "app/usage.hpp"
#include "base/text.hpp"

namespace cpplan::app {
namespace {

/// A parse of lib/ as a check of the parser: it wants the message of a failure, or nothing.
template <class Parse>
auto checked_by(Parse parse) {
  return [parse](const std::string& text) {
    const auto value = parse(text);
    return value ? std::string() : value.error().message;
  };
}

void add_count(CLI::App& parser, const std::string& flag, std::optional<Index>& target,
               const std::string& help) {
  const auto store = [&target](const std::string& text) { target = *parse_count(text); };
  parser.add_option_function<std::string>(flag, store, help)
      ->check(checked_by(parse_count))
      ->type_name("N");
}

/// `Target` is an Enum, or an optional one where no choice is an answer, too.
template <class Enum, class Target>
void add_choice(CLI::App& parser, const std::string& flag, Target& target,
                const std::vector<std::pair<std::string, Enum>>& choices, const std::string& help) {
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) names.push_back(name);
  const auto parse = [names](const std::string& text) { return parse_choice(text, names); };
  const auto store = [&target, choices, parse](const std::string& text) {
    target = choices[*parse(text)].second;
  };
  parser.add_option_function<std::string>(flag, store, help)
      ->check(checked_by(parse))
      ->type_name(CLI::detail::join(names, "|"));
}

template <class Format>
void add_text_or_json(CLI::App& parser, Format& target, const std::string& help = "text or json") {
  add_choice<Format>(parser, "--format", target, {{"text", Format::text}, {"json", Format::json}},
                     help);
}

void add_file(CLI::App& parser, const std::string& flag, std::optional<std::string>& target,
              const std::string& help, const std::string& type = "FILE") {
  parser.add_option(flag, target, help)->type_name(type);
}

void add_order(CLI::App& parser, std::optional<layout::Order>& target) {
  const auto store = [&target](const std::string& text) { target = *layout::parse_order(text); };
  parser.add_option_function<std::string>("--order", store, "rank order, fastest dimension first")
      ->check(checked_by(layout::parse_order))
      ->type_name("tp-cp-ep-dp-pp");
}

void add_version(CLI::App& parser, std::optional<plan::Version>& target) {
  const auto store = [&target](const std::string& text) { target = *parse_version(text); };
  parser.add_option_function<std::string>("--as", store, "what this version computes, beside")
      ->check(checked_by(parse_version))
      ->type_name("VERSION");
}

/// What every subcommand that reads a config takes.
void add_config_flags(CLI::App& parser, ConfigOptions& options) {
  auto& inputs = options.inputs;
  add_count(parser, "--world-size", inputs.world_size, "ranks in all");
  add_count(parser, "--nodes", inputs.nodes, "nodes, with --gpus-per-node");
  add_count(parser, "--gpus-per-node", inputs.gpus_per_node, "GPUs of a node");
  add_count(parser, "--rows", inputs.rows, "rows as loaded; the validation split comes off");
  add_count(parser, "--train-rows", inputs.train_rows, "rows that the trainer sees");
  add_count(parser, "--total-tokens", inputs.total_tokens, "tokens of the training rows");
  add_count(parser, "--eval-tokens", inputs.eval_tokens, "tokens of the evaluation rows");
  add_version(parser, inputs.as);
  add_file(parser, "--lengths", options.lengths,
           "tokens of each row: text, .npy, .jsonl, .idx, folder");
  add_file(parser, "--documents", options.documents,
           "tokens of each document of one packed sequence");
  add_count(parser, "--global-batch", inputs.global_batch, "which accumulation gives this batch?");
  add_order(parser, inputs.order);
  parser.add_option("--set", options.set, "a value in place of the file's; may be repeated")
      ->check(checked_by(parse_assignment))
      ->type_name("key=value")
      ->allow_extra_args(false);
  parser.add_option("--with", options.with, "a file on top of the config; may be repeated")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_choice<config::Dialect>(
      parser, "--dialect", options.dialect,
      {{"axolotl", config::Dialect::axolotl}, {"megatron", config::Dialect::megatron}},
      "whose keys the config has, where they do not tell");
  parser
      .add_option("--launch-command", options.launch_command,
                  "a launch line to check and to plan for")
      ->type_name("LINE");
  add_choice<ColorMode>(
      parser, "--color", options.color,
      {{"auto", ColorMode::automatic}, {"always", ColorMode::always}, {"never", ColorMode::never}},
      "colours; auto: on a terminal");
}

/// The word that `remaining` begins with is no flag of the subcommand.
std::string unexpected_argument(const CLI::App& parser, const std::string& word) {
  if (!word.starts_with('-')) return fmt::format("\"{}\" is one argument too many", word);
  std::vector<std::string> flags;
  for (const CLI::Option* option : parser.get_options())
    if (option->nonpositional()) flags.push_back(option->get_name());
  return unknown_word("flag", word.substr(0, word.find('=')), flags);
}

class CommandLine {
 public:
  CommandLine() : parser_(std::string(help_header)) {
    parser_.name("cpplan");
    parser_.footer(std::string(help_footer));
    parser_.set_version_flag("--version", version_text());
    parser_.require_subcommand(1);
    add_validate();
    add_plan();
    add_layout();
    add_run();
    add_verify();
    add_bench();
    add_checkpoint();
    add_explain();
    add_rules();
    add_sbatch();
    add_doctor();
    // Further subcommands: a function like these, called here.
  }

  int run(int argc, char** argv) {
    if (argc < 2) return usage_error("", "a subcommand is missing. use " + all_names());
    if (const std::string first = argv[1]; !find(first)) {
      if (!first.starts_with('-'))
        return usage_error("", unknown_word("subcommand", first, names()));
      if (!parser_.get_option_no_throw(first))
        return usage_error("", unexpected_argument(parser_, first));
    }
    run_.arguments.assign(argv + 1, argv + argc);
    bench_.arguments = run_.arguments;
    try {
      parser_.parse(argc, argv);
    } catch (const CLI::Success& request) {  // --help, --version
      return parser_.exit(request);
    } catch (const CLI::ParseError& error) {
      return usage_error(chosen_name(), error.what());
    }
    return run_chosen();
  }

 private:
  struct Subcommand {
    CLI::App* parser;
    std::function<int()> run;
  };

  CLI::App& add(const std::string& name, const std::string& help, std::function<int()> run) {
    CLI::App* parser = parser_.add_subcommand(name, help);
    parser->allow_extras();  // unknown flags are ours to explain
    parser->footer("");
    subcommands_.push_back({parser, std::move(run)});
    return *parser;
  }

  void add_validate() {
    auto& parser =
        add("validate", "report every mistake of configs", [this] { return validate(validate_); });
    parser.add_option("FILE", validate_.paths, "configs, folders of them, or - (standard input)")
        ->required()
        ->type_name("");
    add_choice<FindingsFormat>(parser, "--format", validate_.format,
                               {{"text", FindingsFormat::text},
                                {"concise", FindingsFormat::concise},
                                {"json", FindingsFormat::json}},
                               "text (with source lines), concise (a line each) or json");
    parser.add_flag("--strict", validate_.strict, "warnings are errors");
    parser.add_flag("--quiet", validate_.quiet, "no summary line");
    add_config_flags(parser, validate_.config);
  }

  void add_plan() {
    auto& parser = add("plan", "compute batch, steps, layout, memory and traffic of a config",
                       [this] { return plan(plan_); });
    parser.add_option("FILE", plan_.path, "the config, or - (standard input)")
        ->required()
        ->type_name("");
    add_choice<PlanFormat>(
        parser, "--format", plan_.format,
        {{"text", PlanFormat::text}, {"json", PlanFormat::json}, {"env", PlanFormat::env}},
        "text, json, or env (lines for a shell's eval)");
    parser.add_option("--get", plan_.get, "print one value alone, by its name in the JSON")
        ->type_name("NAME");
    parser.add_option("--sweep", plan_.sweep, "a line for each value of a setting")
        ->check(checked_by(parse_assignment))
        ->type_name("key=a,b,c");
    parser.add_flag("--explain", plan_.explain, "each formula with the numbers put in");
    add_file(parser, "--hardware", plan_.config.hardware, "a profile that cpplan bench wrote");
    add_config_flags(parser, plan_.config);
  }

  void add_layout() {
    auto& parser = add("layout", "show ranks, groups and the tokens of each rank",
                       [this] { return app::layout(layout_); });
    parser.add_option("FILE", layout_.path, "the config, or - (standard input)")
        ->required()
        ->type_name("");
    add_text_or_json(parser, layout_.format);
    add_config_flags(parser, layout_.config);
  }

  /// What `run` and `verify` both take.
  void add_run_flags(CLI::App& parser, RunOptions& run) {
    parser.add_option("FILE", run.path, "the config")->required()->type_name("");
    add_count(parser, "-n", run.ranks, "ranks: the same as --world-size");
    add_count(parser, "--steps", run.steps, "stop after this many of the plan's steps");
    parser.add_flag("--shrink", run.config.inputs.shrink, "a tiny model under the same layout");
    parser.add_flag("--synthetic", run.synthetic, "made-up text in place of the datasets");
    const auto store = [&run](const std::string& text) { run.timeout = *parse_seconds(text); };
    parser.add_option_function<std::string>("--timeout", store, "longest wait for another rank")
        ->check(checked_by(parse_seconds))
        ->type_name("SECONDS");
  }

  void add_run() {
    auto& parser = add("run", "train the config's layout on this machine, one process a rank",
                       [this] { return app::run(run_); });
    add_run_flags(parser, run_);
    using Device = device::BackendChoice;
    add_choice<Device>(parser, "--backend", run_.backend,
                       {{"auto", Device::automatic}, {"cpu", Device::cpu}, {"cuda", Device::cuda}},
                       "what computes; auto: a GPU where there is one");
    add_choice<Transport>(parser, "--transport", run_.transport, transports,
                          "auto: nccl between GPUs, else mpi; threads of this process");
    using Launcher = LauncherChoice;
    add_choice<Launcher>(
        parser, "--launcher", run_.launcher,
        {{"auto", Launcher::automatic}, {"mpirun", Launcher::mpirun}, {"srun", Launcher::srun}},
        "what starts the ranks; auto: srun inside a SLURM allocation");
    add_file(parser, "--hosts", run_.hosts, "hosts, and ranks that each takes", "a:4,b:4");
    add_file(parser, "--hostfile", run_.hostfile, "the same, a line each: a slots=4");
    add_file(parser, "--interface", run_.interface, "between hosts: eth0, 10.0.0.0/24", "NETWORK");
    add_count(parser, "--save-every", run_.save_every, "steps from one checkpoint to the next");
    parser.add_flag("--resume", run_.resume, "go on from the newest checkpoint, if there is one");
    using Writer = plan::CheckpointWriter;
    add_choice<Writer>(parser, "--checkpoint-writer", run_.checkpoint_writer,
                       {{"direct", Writer::direct}, {"gather", Writer::gather}},
                       "who writes: every rank its part, or rank 0 for all (NFS)");
    parser.add_flag("--dry-run", run_.dry_run, "print the command and the rank map alone");
    add_text_or_json(parser, run_.format, "of --dry-run: text or json");
    parser.add_flag("--check", run_.check, "exit 5 unless bytes and memory were as planned");
    add_file(parser, "--hardware", run_.config.hardware, "a profile that cpplan bench wrote");
    add_file(parser, "--run-folder", run_.run_folder, "keep plan, record, outcome, a log a rank",
             "FOLDER");
    add_file(parser, "--record", run_.record, "write losses, norms and bytes as JSON");
    add_config_flags(parser, run_.config);
  }

  void add_verify() {
    auto& parser =
        add("verify", "train a few steps in the layout and on one rank, and compare gradients",
            [this] { return app::verify(verify_); });
    add_run_flags(parser, verify_.run);
    add_text_or_json(parser, verify_.format);
    add_config_flags(parser, verify_.run.config);
  }

  void add_bench() {
    auto& parser = add("bench", "measure this machine for `plan --hardware`: ops, and two ranks",
                       [this] { return bench(bench_); });
    add_file(parser, "--out", bench_.out, "where the profile goes; else to standard output");
  }

  void add_checkpoint() {
    auto& parser = add("checkpoint", "show, verify or convert checkpoints of a run",
                       [this] { return checkpoint(checkpoint_); });
    using enum CheckpointAction;
    add_choice<CheckpointAction>(
        parser, "ACTION", checkpoint_.action,
        {{"show", show}, {"verify", verify}, {"convert", convert}, {"logits", logits}},
        "show, verify (every byte), convert (to a model folder), or logits (of --tokens)");
    parser.get_option("ACTION")->required()->type_name("");
    parser.add_option("FOLDER", checkpoint_.path, "a checkpoint, or a folder of them")
        ->required()
        ->type_name("");
    parser.add_option("TARGET", checkpoint_.target, "of convert and logits: what is new")
        ->type_name("");
    add_file(parser, "--tokens", checkpoint_.tokens, "of logits: numbers of tokens");
    add_text_or_json(parser, checkpoint_.format);
    using Type = checkpoint::ElementType;
    add_choice<Type>(
        parser, "--dtype", checkpoint_.dtype,
        {{"bf16", Type::bf16}, {"fp16", Type::f16}, {"fp32", Type::f32}, {"fp64", Type::f64}},
        "of convert: number format of the weights");
  }

  void add_explain() {
    auto& parser = add("explain", "what a rule checks, why, and an example",
                       [this] { return explain(explain_); });
    parser.add_option("RULE", explain_.rule, "an id or a name: CP301, cp-divides-sequence")
        ->required()
        ->type_name("");
  }

  void add_rules() {
    auto& parser = add("rules", "list every rule", [this] { return rules(rules_); });
    add_choice<RulesFormat>(parser, "--format", rules_.format,
                            {{"text", RulesFormat::text},
                             {"json", RulesFormat::json},
                             {"markdown", RulesFormat::markdown}},
                            "text (a line each), json, or markdown (docs/rules.md)");
  }

  void add_sbatch() {
    auto& parser = add("sbatch", "write a job script for SLURM with the numbers of the plan",
                       [this] { return sbatch(sbatch_); });
    parser.add_option("FILE", sbatch_.path, "the config")->required()->type_name("");
    add_choice<BatchLauncher>(parser, "--launcher", sbatch_.launcher,
                              {{"cpplan", BatchLauncher::cpplan},
                               {"torchrun", BatchLauncher::torchrun},
                               {"accelerate", BatchLauncher::accelerate}},
                              "what the job starts: cpplan run, or the config's own framework");
    add_file(parser, "--output", sbatch_.output, "the script's file, instead of standard output");
    add_config_flags(parser, sbatch_.config);
  }

  void add_doctor() {
    auto& parser = add("doctor", "what this machine or allocation has for a run, and lacks",
                       [this] { return doctor(doctor_); });
    add_text_or_json(parser, doctor_.format);
  }

  int run_chosen() {
    for (const auto& [parser, run] : subcommands_) {
      if (!parser->parsed()) continue;
      for (const std::string& word : parser->remaining())
        return usage_error(parser->get_name(), unexpected_argument(*parser, word));
      return run();
    }
    return usage_error("", "a subcommand is missing. use " + all_names());
  }

  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& subcommand : subcommands_) names.push_back(subcommand.parser->get_name());
    return names;
  }

  std::string all_names() const { return join_words(names(), "or"); }

  bool find(const std::string& name) const { return std::ranges::count(names(), name) != 0; }

  std::string chosen_name() const {
    for (const auto& subcommand : subcommands_)
      if (subcommand.parser->parsed()) return subcommand.parser->get_name();
    return "";
  }

  CLI::App parser_;
  std::vector<Subcommand> subcommands_;
  ValidateOptions validate_;
  PlanOptions plan_;
  LayoutOptions layout_;
  RunOptions run_;
  VerifyOptions verify_;
  BenchOptions bench_;
  CheckpointOptions checkpoint_;
  ExplainOptions explain_;
  RulesOptions rules_;
  SbatchOptions sbatch_;
  DoctorOptions doctor_;
};

}  // namespace

int main(int argc, char** argv) {
  try {
    return CommandLine().run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "internal error: {} (this is our bug). please report it\n", error.what());
    return internal_error;
  }
}

}  // namespace cpplan::app
