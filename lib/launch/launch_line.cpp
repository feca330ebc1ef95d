#include "launch/launch_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/checked.hpp"
#include "base/text.hpp"
#include "cluster/slurm_lists.hpp"
#include "diag/rule_table.hpp"

namespace cpplan::launch {
namespace {

constexpr std::string_view source_name = "--launch-command";

std::optional<Index> parse_count(std::string_view text) {
  Index n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  const bool whole = error == std::errc{} && end == text.data() + text.size();
  return whole && n >= 1 ? std::optional(n) : std::nullopt;
}

std::string_view base_name(std::string_view path) {
  const auto slash = path.rfind('/');
  return slash == path.npos ? path : path.substr(slash + 1);
}

/// Where the launcher's own flags begin, and which launcher it is.
struct Found {
  Launcher launcher;
  std::size_t word, first_flag;
};

/// python -m torch.distributed.run
std::optional<Found> python_module(const Words& words, std::size_t i) {
  if (!base_name(words[i].text).starts_with("python") || i + 2 >= words.size()) return std::nullopt;
  const std::string& module = words[i + 2].text;
  if (words[i + 1].text != "-m") return std::nullopt;
  if (module == "torch.distributed.run" || module == "torch.distributed.launch")
    return Found{Launcher::torchrun, i, i + 3};
  if (module == "accelerate.commands.launch") return Found{Launcher::accelerate, i, i + 3};
  return std::nullopt;
}

std::optional<Found> launcher_at(const Words& words, std::size_t i) {
  const std::string_view name = base_name(words[i].text);
  if (name == "mpirun" || name == "mpiexec" || name == "orterun" || name == "prterun")
    return Found{Launcher::mpirun, i, i + 1};
  if (name == "srun") return Found{Launcher::srun, i, i + 1};
  if (name == "torchrun") return Found{Launcher::torchrun, i, i + 1};
  const bool launches = i + 1 < words.size() && words[i + 1].text == "launch";
  if (name == "accelerate" && launches) return Found{Launcher::accelerate, i, i + 2};
  return python_module(words, i);
}

std::optional<Found> find_launcher(const Words& words) {
  for (std::size_t i = 0; i < words.size(); ++i)
    if (const auto found = launcher_at(words, i)) return found;
  return std::nullopt;
}

/// A part of a word as a word of its own: --nnodes=2 has the value 2.
Word part_of(const diag::SourceFile& source, const Word& word, std::size_t from) {
  Word part = word;
  part.text = word.text.substr(from);
  const bool unquoted = word.end - word.begin == word.text.size();
  if (unquoted && !part.text.empty()) {
    part.begin = word.begin + from;
    part.span = source.span(part.begin, part.end);
  }
  return part;
}

/// Takes flags off the front of a launcher's arguments.
class FlagReader {
 public:
  FlagReader(const diag::SourceFile& source, LaunchLine& line, const Words& words, std::size_t at)
      : source_(source), line_(line), words_(words), at_(at) {}

  /// The first word that is no flag.
  std::size_t read() {
    while (at_ < words_.size() && words_[at_].text.starts_with('-') && words_[at_].text != "-") {
      if (words_[at_].text == "--") return at_ + 1;
      read_flag(words_[at_++]);
    }
    return at_;
  }

 private:
  void read_flag(const Word& word) {
    const auto dashes = std::min(word.text.find_first_not_of('-'), word.text.size());
    const auto equals = std::min(word.text.find('=', dashes), word.text.size());
    std::string name = word.text.substr(dashes, equals - dashes);
    std::ranges::replace(name, '_', '-');
    const LauncherFlag* flag = find_flag(line_.launcher, name);
    if (!flag && dashes == 1 && line_.launcher == Launcher::srun && read_attached(word)) return;
    if (!flag) return read_unknown(word, equals < word.text.size());
    if (equals < word.text.size())
      set(*flag, word, part_of(source_, word, equals + 1));
    else
      read_values(*flag, word);
  }

  /// srun's -n8.
  bool read_attached(const Word& word) {
    const LauncherFlag* flag = find_flag(line_.launcher, word.text.substr(1, 1));
    if (!flag || flag->values != 1) return false;
    set(*flag, word, part_of(source_, word, 2));
    return true;
  }

  void read_values(const LauncherFlag& flag, const Word& word) {
    if (flag.values == 0) return set(flag, word, word);
    if (at_ < words_.size()) set(flag, word, words_[at_]);
    at_ = std::min(at_ + static_cast<std::size_t>(flag.values), words_.size());
  }

  /// Whether it takes a value is not known: a number behind it can be nothing else.
  void read_unknown(const Word& word, bool with_value) {
    line_.unknown_flags.push_back(word);
    if (!with_value && at_ < words_.size() && parse_count(words_[at_].text)) ++at_;
  }

  void set(const LauncherFlag& flag, const Word& word, const Word& value) {
    if (flag.meaning == Meaning::other) return;
    line_.flags.insert_or_assign(flag.meaning, word);
    line_.settings.insert_or_assign(flag.meaning, value);
  }

  const diag::SourceFile& source_;
  LaunchLine& line_;
  const Words& words_;
  std::size_t at_;
};

std::optional<LaunchLine> read_line(const diag::SourceFile& source, const Words& words, int depth);

/// torchrun as the program, or inside the script of bash -c "...".
std::shared_ptr<LaunchLine> read_inside(const diag::SourceFile& source, const Words& program,
                                        int depth) {
  if (depth > 2) return nullptr;
  if (auto line = read_line(source, program, depth + 1))
    return std::make_shared<LaunchLine>(std::move(*line));
  for (const Word& word : program) {
    const bool script = word.text.find(' ') != word.text.npos;
    const bool plain = word.end - word.begin == word.text.size() + 2;
    if (!script || !plain) continue;
    const auto commands = split_commands(source, word.begin + 1, word.end - 1);
    for (const Words& words : commands.value_or(std::vector<Words>{}))
      if (auto line = read_line(source, words, depth + 1))
        return std::make_shared<LaunchLine>(std::move(*line));
  }
  return nullptr;
}

std::optional<LaunchLine> read_line(const diag::SourceFile& source, const Words& words, int depth) {
  const auto found = find_launcher(words);
  if (!found) return std::nullopt;
  LaunchLine line;
  line.launcher = found->launcher;
  line.launcher_word = words[found->word];
  line.before.assign(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(found->word));
  const std::size_t program = FlagReader(source, line, words, found->first_flag).read();
  line.program.assign(words.begin() + static_cast<std::ptrdiff_t>(program), words.end());
  line.inside = read_inside(source, line.program, depth);
  return line;
}

/// "nproc-per-node" of --nproc_per_node=8.
std::string flag_name(const Word& word) {
  std::string name = word.text.substr(std::min(word.text.find_first_not_of('-'), word.text.size()));
  name = name.substr(0, name.find('='));
  std::ranges::replace(name, '_', '-');
  return name;
}

diag::Diagnostic unknown_flag(const LaunchLine& line, const Word& word, std::string why,
                              std::string help) {
  return diag::finding("CP521", word.span,
                       fmt::format("{} has no flag {}", name_of(line.launcher), word.text),
                       {.why = std::move(why), .help = {std::move(help)}});
}

/// None for a flag that nobody knows: a launcher has more of them than anybody lists.
std::optional<diag::Diagnostic> report_unknown_flag(const LaunchLine& line, const Word& word) {
  const std::string name = flag_name(word);
  if (const auto borrowed = borrowed_flag(line.launcher, name)) {
    const auto* here = borrowed->here;
    return unknown_flag(line, word, fmt::format("it is one of {}", name_of(borrowed->owner)),
                        here ? fmt::format("write --{}", here->name) : "remove it");
  }
  const auto near = did_you_mean(name, flag_names(line.launcher), 1);
  if (near.empty()) return std::nullopt;
  return unknown_flag(line, word, "the launcher stops, or takes it for the program",
                      fmt::format("write --{}", near.front()));
}

void report_unknown_flags(const LaunchLine& line, diag::Diagnostics& findings) {
  for (const Word& word : line.unknown_flags)
    if (auto finding = report_unknown_flag(line, word)) findings.push_back(std::move(*finding));
  if (line.inside) report_unknown_flags(*line.inside, findings);
}

void report_bad_counts(const LaunchLine& line, diag::Diagnostics& findings) {
  for (const Meaning m : {Meaning::ranks, Meaning::ranks_per_node}) {
    const auto value = line.settings.find(m);
    if (value == line.settings.end() || value->second.expands || line.count(m)) continue;
    const std::string& text = value->second.text;
    const bool word = text == "gpu" || text == "auto" || text == "cpu" || text == "xpu";
    if (line.launcher == Launcher::torchrun && word) continue;
    findings.push_back(diag::finding(
        "CP520", value->second.span,
        fmt::format("{} {} is no number of ranks", line.flags.at(m).text, text),
        {.why = "the launcher counts them from 1 on", .help = {"write a whole number"}}));
  }
  if (line.inside) report_bad_counts(*line.inside, findings);
}

diag::Diagnostic no_launcher(const diag::SourceFile& source) {
  return diag::finding("CP520",
                       source.text().empty() ? diag::Span{} : source.span(0, source.text().size()),
                       "the launch command starts no launcher that is known",
                       {.why = "mpirun, srun, torchrun and accelerate launch are understood",
                        .help = {"write for example mpirun -np 8 PROGRAM"}});
}

std::optional<Index> mpirun_ranks(const LaunchLine& line) {
  if (line.has(Meaning::ranks)) return line.count(Meaning::ranks);
  const auto hosts = host_slots(line);
  if (hosts.empty()) return std::nullopt;
  const auto per_node = line.has(Meaning::one_rank_per_node) ? std::optional<Index>(1)
                                                             : line.count(Meaning::ranks_per_node);
  if (per_node) return checked_multiply(*per_node, std::ssize(hosts));
  std::optional<Index> slots = 0;
  for (const HostSlots& host : hosts) slots = checked_sum(slots, host.slots);
  return slots;
}

std::optional<Index> srun_tasks(const LaunchLine& line) {
  if (line.has(Meaning::ranks)) return line.count(Meaning::ranks);
  if (!line.has(Meaning::nodes) && !line.has(Meaning::ranks_per_node)) return std::nullopt;
  const auto nodes = line.has(Meaning::nodes) ? line.count(Meaning::nodes) : std::optional<Index>();
  const auto per_node = line.has(Meaning::ranks_per_node) ? line.count(Meaning::ranks_per_node)
                                                          : std::optional<Index>(1);
  return nodes && per_node ? checked_multiply(*nodes, *per_node) : std::nullopt;
}

std::optional<Index> torchrun_per_node(const LaunchLine& line, std::optional<Index> gpus) {
  const auto value = line.settings.find(Meaning::ranks_per_node);
  if (value == line.settings.end()) return 1;
  const std::string& text = value->second.text;
  return text == "gpu" || text == "auto" ? gpus : parse_count(text);
}

std::optional<Index> torchrun_ranks(const LaunchLine& line, std::optional<Index> gpus) {
  const auto nodes =
      line.has(Meaning::nodes) ? line.count(Meaning::nodes) : std::optional<Index>(1);
  const auto per_node = torchrun_per_node(line, gpus);
  return nodes && per_node ? checked_multiply(*nodes, *per_node) : std::nullopt;
}

/// What the outer launcher starts is one launcher a task.
std::optional<Index> ranks_below(std::optional<Index> tasks, const LaunchLine& inside,
                                 std::optional<Index> gpus) {
  if (inside.launcher == Launcher::accelerate || inside.has(Meaning::nodes))
    return ranks_started(inside, gpus);
  const auto each = ranks_started(inside, gpus);
  return tasks && each ? checked_multiply(*tasks, *each) : std::nullopt;
}

}  // namespace

const diag::Span& LaunchLine::place(Meaning m) const {
  if (const auto value = settings.find(m); value != settings.end()) return value->second.span;
  return launcher_word.span;
}

std::optional<Index> LaunchLine::count(Meaning m) const {
  const auto value = settings.find(m);
  return value == settings.end() ? std::nullopt : parse_count(value->second.text);
}

LaunchCommand parse_launch_command(std::string text) {
  LaunchCommand command{diag::SourceFile(std::string(source_name), std::move(text)), {}, {}};
  const auto commands = split_commands(command.source);
  if (!commands) {
    command.findings.push_back(commands.error());
    return command;
  }
  for (const Words& words : *commands)
    if ((command.line = read_line(command.source, words, 0))) break;
  if (!command.line) {
    command.findings.push_back(no_launcher(command.source));
    return command;
  }
  report_unknown_flags(*command.line, command.findings);
  report_bad_counts(*command.line, command.findings);
  return command;
}

std::vector<HostSlots> host_slots(const LaunchLine& line) {
  const auto value = line.settings.find(Meaning::hosts);
  if (value == line.settings.end() || value->second.expands) return {};
  std::vector<HostSlots> hosts;
  if (line.launcher == Launcher::srun) {
    for (auto& name :
         cluster::parse_node_list(value->second.text).value_or(std::vector<std::string>{}))
      hosts.push_back({std::move(name), std::nullopt});
    return hosts;
  }
  std::string_view rest = value->second.text;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const auto colon = item.find(':');
    const auto slots =
        colon == item.npos ? std::optional<Index>(1) : parse_count(item.substr(colon + 1));
    if (!item.empty()) hosts.push_back({std::string(item.substr(0, colon)), slots});
  }
  return hosts;
}

std::optional<Index> ranks_started(const LaunchLine& line, std::optional<Index> gpus_per_node) {
  switch (line.launcher) {
    case Launcher::torchrun:
      return torchrun_ranks(line, gpus_per_node);
    case Launcher::accelerate:
      return line.count(Meaning::ranks);
    case Launcher::mpirun:
    case Launcher::srun:
      break;
  }
  const auto tasks = line.launcher == Launcher::mpirun ? mpirun_ranks(line) : srun_tasks(line);
  return line.inside ? ranks_below(tasks, *line.inside, gpus_per_node) : tasks;
}

}  // namespace cpplan::launch
