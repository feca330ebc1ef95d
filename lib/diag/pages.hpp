#pragma once
// What `cpplan explain` knows of a rule beyond its row in the table: why it is one, an example that
// breaks it, one that does not, and where the rule is from. The texts stand in pages/, by area.
#include <span>
#include <string>
#include <string_view>

namespace cpplan::diag {

/// What the lines of an example are added to, so that it shows no more than its point.
enum class Base { none, axolotl, megatron };

struct Example {
  std::string_view lines;
  std::string_view given =
      {};  // flags and variables beside the file: "--world-size 8 SLURM_NTASKS=8"; "cpplan run"
  Base base = Base::axolotl;
};

struct Page {
  std::string_view id;
  std::string_view why;  // whole sentences
  Example wrong, right;  // without lines where only a run can show it
  std::string_view source;

  /// False where only a rank that fails, or the machine, can break the rule.
  bool has_examples() const { return !wrong.lines.empty(); }
};

/// All pages, one a rule, sorted by id.
std::span<const Page> pages();

/// nullptr where there is none.
const Page* find_page(std::string_view id);

/// The whole file that an example stands for: the lines of its base whose keys it does not have,
/// then its own.
std::string complete(const Example&);

/// Pages of one area; pages() joins them.
std::span<const Page> syntax_pages();
std::span<const Page> key_pages();
std::span<const Page> model_pages();
std::span<const Page> degree_pages();
std::span<const Page> sequence_pages();
std::span<const Page> pipeline_pages();
std::span<const Page> expert_pages();
std::span<const Page> sharding_pages();
std::span<const Page> run_pages();
std::span<const Page> launch_pages();

}  // namespace cpplan::diag
