#pragma once
// What the command line asks for, as plain data: cli.cpp fills it in, the subcommands read it.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "checkpoint/element_type.hpp"
#include "config/training_config.hpp"
#include "device/backend.hpp"
#include "plan/plan.hpp"

namespace cpplan::app {

enum class ColorMode { automatic, always, never };
enum class FindingsFormat { text, concise, json };
enum class PlanFormat { text, json, env };

/// What every subcommand that reads a config takes.
struct ConfigOptions {
  plan::PlanInputs inputs;
  std::vector<std::string> set;   // key=value, later wins
  std::vector<std::string> with;  // files on top of the config, later wins
  std::optional<config::Dialect> dialect;
  std::optional<std::string> lengths, documents;  // files of numbers, or -
  std::optional<std::string> hardware;            // a profile
  std::optional<std::string> launch_command;
  ColorMode color = ColorMode::automatic;
};

struct ValidateOptions {
  ConfigOptions config;
  std::vector<std::string> paths;  // files, folders, "-" for standard input
  FindingsFormat format = FindingsFormat::text;
  bool strict = false;  // warnings fail, too
  bool quiet = false;   // no summary
};

struct PlanOptions {
  ConfigOptions config;
  std::string path;
  PlanFormat format = PlanFormat::text;
  std::optional<std::string> get;    // one value alone
  std::optional<std::string> sweep;  // key=a,b,c: a line for each value
  bool explain = false;              // each formula with the numbers put in
};

struct BenchOptions {
  std::optional<std::string> out;      // none: standard output
  std::vector<std::string> arguments;  // of the whole command line: the ranks get the same
};

struct ExplainOptions {
  std::string rule;  // an id or a name
};

enum class RulesFormat { text, json, markdown };

struct RulesOptions {
  RulesFormat format = RulesFormat::text;
};

enum class BatchLauncher { cpplan, torchrun, accelerate };

struct SbatchOptions {
  ConfigOptions config;
  std::string path;
  BatchLauncher launcher = BatchLauncher::cpplan;
  std::optional<std::string> output;  // none: standard output
};

enum class DoctorFormat { text, json };

struct DoctorOptions {
  DoctorFormat format = DoctorFormat::text;
  ColorMode color = ColorMode::automatic;
};

enum class LayoutFormat { text, json };

struct LayoutOptions {
  ConfigOptions config;
  std::string path;
  LayoutFormat format = LayoutFormat::text;
};

/// automatic: processes, and between devices what suits them.
enum class Transport { automatic, nccl, mpi, threads };
inline const std::vector<std::pair<std::string, Transport>> transports = {
    {"auto", Transport::automatic},
    {"nccl", Transport::nccl},
    {"mpi", Transport::mpi},
    {"threads", Transport::threads}};
enum class LauncherChoice { automatic, mpirun, srun };
enum class RunFormat { text, json };

struct RunOptions {
  ConfigOptions config;
  std::string path;
  std::optional<Index> ranks;                    // -n: the same as --world-size
  std::optional<device::BackendChoice> backend;  // none: of the config, or automatic
  Transport transport = Transport::automatic;
  LauncherChoice launcher = LauncherChoice::automatic;
  std::optional<std::string> hosts, hostfile;  // node1:4,node2:4, or a file of such lines
  std::optional<std::string> interface;        // eth1, or 10.0.0.0/24
  RunFormat format = RunFormat::text;          // of --dry-run
  std::optional<Index> steps;
  bool synthetic = false, dry_run = false;
  bool check = false;               // exit 5 where bytes or memory were not what was planned
  std::optional<Index> save_every;  // steps from one checkpoint to the next
  bool resume = false;
  plan::CheckpointWriter checkpoint_writer = plan::CheckpointWriter::direct;
  std::optional<std::string> record, run_folder;
  std::optional<double> timeout;       // seconds
  std::vector<std::string> arguments;  // of the whole command line: the ranks get the same
};

enum class VerifyFormat { text, json };

struct VerifyOptions {
  RunOptions run;  // of which the ranks are threads
  VerifyFormat format = VerifyFormat::text;
};

enum class CheckpointAction { show, verify, convert, logits };
enum class CheckpointFormat { text, json };

struct CheckpointOptions {
  CheckpointAction action = CheckpointAction::show;
  std::string path;  // a checkpoint, or a folder of them
  CheckpointFormat format = CheckpointFormat::text;
  std::string target;                            // of convert: the new folder; of logits: the file
  std::optional<std::string> tokens;             // of logits: the file that has them
  std::optional<checkpoint::ElementType> dtype;  // of convert; none: as it is
};

}  // namespace cpplan::app
