#include "cluster/environment.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::cluster {
namespace {

constexpr Index most_nodes = 1'000'000;  // a longer list is a mistake, not a machine

std::optional<Index> parse_count(std::string_view text) {
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && n >= 1 ? std::optional(n) : std::nullopt;
}

diag::Diagnostic unreadable(std::string_view variable, std::string_view text,
                            std::string_view wanted) {
  return diag::finding(
      "CP501", {}, fmt::format("{}=\"{}\" is ignored (it should be {})", variable, text, wanted),
      {.why = "a launcher sets this variable; another form comes from a script or by hand",
       .help = {fmt::format("unset {}, or say the world size with --world-size N", variable)}});
}

/// "4", "4(x2)": a count and how often it stands there.
std::optional<std::pair<Index, Index>> parse_repeated(std::string_view item) {
  const auto bracket = item.find("(x");
  if (bracket == std::string_view::npos) {
    const auto count = parse_count(item);
    return count ? std::optional(std::pair(*count, Index{1})) : std::nullopt;
  }
  if (item.back() != ')') return std::nullopt;
  const auto count = parse_count(item.substr(0, bracket));
  const auto times = parse_count(item.substr(bracket + 2, item.size() - bracket - 3));
  if (!count || !times) return std::nullopt;
  return std::pair(*count, *times);
}

/// Reads variables and keeps what is wrong with them.
class Reader {
 public:
  Reader(const Variables& variables, diag::Diagnostics& findings)
      : variables_(variables), findings_(findings) {}

  bool has(std::string_view name) const { return variables_.contains(name); }

  std::optional<Index> count(std::string_view name) {
    const auto found = variables_.find(name);
    if (found == variables_.end()) return std::nullopt;
    // SLURM_GPUS_PER_NODE carries a type where one was asked for: "h100:8".
    const std::string_view text = found->second;
    const auto colon = text.rfind(':');
    const auto number =
        parse_count(colon == std::string_view::npos ? text : text.substr(colon + 1));
    if (!number) findings_.push_back(unreadable(name, text, "a whole number of at least 1"));
    return number;
  }

  std::vector<Index> tasks_per_node() {
    const auto found = variables_.find("SLURM_TASKS_PER_NODE");
    if (found == variables_.end()) return {};
    auto tasks = parse_tasks_per_node(found->second);
    if (tasks) return std::move(*tasks);
    findings_.push_back(unreadable(found->first, found->second, "of the form 4(x2),3"));
    return {};
  }

 private:
  const Variables& variables_;
  diag::Diagnostics& findings_;
};

Index total(const std::vector<Index>& tasks) {
  Index sum = 0;
  for (const Index n : tasks) sum = checked_add(sum, n).value_or(sum);
  return sum;
}

/// The ranks that SLURM's variables give, and the contradiction where they have one.
std::optional<RankCount> slurm_ranks(Reader& reader, Environment& environment) {
  const auto ntasks = reader.count("SLURM_NTASKS");
  const auto per_node = reader.count("SLURM_NTASKS_PER_NODE");
  const auto& tasks = environment.tasks_per_node;
  if (ntasks && !tasks.empty() && total(tasks) != *ntasks) {
    environment.findings.push_back(diag::finding(
        "CP502", {},
        fmt::format("SLURM_NTASKS={} but SLURM_TASKS_PER_NODE gives {} tasks over {} nodes",
                    *ntasks, total(tasks), tasks.size()),
        {.why = "the two are set from one allocation, so one of them was changed by hand",
         .help = {fmt::format("use --ntasks={} or --world-size {}", total(tasks), *ntasks)}}));
  }
  if (ntasks) return RankCount{*ntasks, "SLURM_NTASKS"};
  if (!tasks.empty()) return RankCount{total(tasks), "SLURM_TASKS_PER_NODE"};
  if (!per_node || !environment.nodes) return std::nullopt;
  const auto product = checked_multiply(*environment.nodes, *per_node);
  if (!product) return std::nullopt;
  return RankCount{*product, "SLURM_NNODES x SLURM_NTASKS_PER_NODE"};
}

/// axolotl and Megatron read WORLD_SIZE alone. Under mpirun itself a wrapper may still set it from
/// the rank's own variables, so there it is a note.
diag::Diagnostic only_open_mpi(Index ranks, bool inside_rank) {
  auto found = diag::finding(
      "CP503", {},
      fmt::format("OMPI_COMM_WORLD_SIZE={} gives the world size, but WORLD_SIZE is not set", ranks),
      {.why = "axolotl and Megatron read WORLD_SIZE alone and would plan for 1 rank",
       .help = {fmt::format("export WORLD_SIZE={}", ranks)}});
  if (inside_rank) found.severity = diag::Severity::note;
  return found;
}

/// Several tasks of one step that no process manager has told of each other.
diag::Diagnostic lonely_tasks(Index tasks) {
  return diag::finding(
      "CP510", {},
      fmt::format("a SLURM step of {} tasks has neither PMIX_RANK nor PMI_RANK", tasks),
      {.why = "MPI would start as many separate worlds of one rank each",
       .help = {fmt::format("use srun --mpi=pmix -n {0}, or mpirun -np {0}", tasks)}});
}

/// One launcher a node needs no process manager; ranks do.
void check_process_manager(Reader& reader, Environment& environment) {
  const auto tasks = reader.count("SLURM_STEP_NUM_TASKS");
  const bool inside_step = tasks && *tasks > 1 && reader.has("SLURM_PROCID");
  if (!inside_step || environment.one_task_per_node()) return;
  if (!reader.has("PMIX_RANK") && !reader.has("PMI_RANK"))
    environment.findings.push_back(lonely_tasks(*tasks));
}

}  // namespace

Variables process_variables() {
  Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

bool Environment::one_task_per_node() const {
  if (tasks_per_node.size() > 1)
    return std::ranges::all_of(tasks_per_node, [](Index n) { return n == 1; });
  return nodes && *nodes > 1 && ranks && ranks->source.starts_with("SLURM") &&
         ranks->size == *nodes;
}

Environment read_environment(const Variables& variables) {
  Environment environment;
  Reader reader(variables, environment.findings);
  environment.tasks_per_node = reader.tasks_per_node();
  environment.nodes = reader.count("SLURM_NNODES");
  if (!environment.nodes && !environment.tasks_per_node.empty())
    environment.nodes = static_cast<Index>(environment.tasks_per_node.size());
  environment.gpus_per_node = reader.count("SLURM_GPUS_PER_NODE");
  if (!environment.gpus_per_node) environment.gpus_per_node = reader.count("SLURM_GPUS_ON_NODE");

  if (const auto world = reader.count("WORLD_SIZE")) {
    environment.ranks = RankCount{*world, "WORLD_SIZE"};
  } else if (const auto ompi = reader.count("OMPI_COMM_WORLD_SIZE")) {
    environment.ranks = RankCount{*ompi, "OMPI_COMM_WORLD_SIZE"};
    environment.findings.push_back(only_open_mpi(*ompi, reader.has("OMPI_COMM_WORLD_RANK")));
  } else {
    environment.ranks = slurm_ranks(reader, environment);
    check_process_manager(reader, environment);
  }
  return environment;
}

Result<std::vector<Index>> parse_tasks_per_node(std::string_view text) {
  std::vector<Index> tasks;
  for (std::string_view rest = trimmed(text);;) {
    const auto comma = rest.find(',');
    const auto item = parse_repeated(rest.substr(0, comma));
    if (!item || static_cast<Index>(tasks.size()) + item->second > most_nodes)
      return failure(fmt::format(
          "cannot read tasks per node \"{}\" (they are written 4(x2),3). write one count a node",
          text));
    tasks.insert(tasks.end(), static_cast<std::size_t>(item->second), item->first);
    if (comma == std::string_view::npos) return tasks;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace cpplan::cluster
