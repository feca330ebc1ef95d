#include "diag/pages.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

namespace cpplan::diag {
namespace {

constexpr std::string_view axolotl_base = R"(base_model: ./models/tiny
learning_rate: 0.0001
datasets: [{path: ./data.jsonl, type: completion}]
sequence_len: 4096
micro_batch_size: 1
gradient_accumulation_steps: 4
attn_implementation: flash_attention_2
)";

constexpr std::string_view megatron_base = R"(num_layers: 24
hidden_size: 1024
num_attention_heads: 16
seq_length: 4096
max_position_embeddings: 4096
micro_batch_size: 2
global_batch_size: 64
train_iters: 100
lr: 0.0001
)";

std::vector<Page> join_areas() {
  std::vector<Page> all;
  for (const auto area :
       {syntax_pages(), key_pages(), model_pages(), degree_pages(), sequence_pages(),
        pipeline_pages(), expert_pages(), sharding_pages(), run_pages(), launch_pages()})
    all.insert(all.end(), area.begin(), area.end());
  std::ranges::sort(all, {}, &Page::id);
  return all;
}

std::string_view key_of(std::string_view line) {
  return line.substr(0, line.find(':'));
}

/// True where one of the lines sets the key at the top level.
bool sets(std::string_view lines, std::string_view key) {
  std::istringstream each{std::string(lines)};
  for (std::string line; std::getline(each, line);)
    if (key_of(line) == key) return true;
  return false;
}

}  // namespace

std::span<const Page> pages() {
  static const std::vector<Page> all = join_areas();
  return all;
}

const Page* find_page(std::string_view id) {
  const auto found = std::ranges::find(pages(), id, &Page::id);
  return found == pages().end() ? nullptr : &*found;
}

std::string complete(const Example& example) {
  if (example.base == Base::none) return std::string(example.lines);
  std::istringstream base{
      std::string(example.base == Base::axolotl ? axolotl_base : megatron_base)};
  std::string file;
  for (std::string line; std::getline(base, line);)
    if (!sets(example.lines, key_of(line))) file += line + '\n';
  return file + std::string(example.lines) + '\n';
}

}  // namespace cpplan::diag
