#include "config/load.hpp"

#include <doctest/doctest.h>

#include <chrono>

namespace cpplan::config {
namespace {

const std::string base =
    "base_model: ./models/tiny\n"
    "learning_rate: 0.0001\n"
    "datasets:\n"
    "  - path: ./data.jsonl\n"
    "    type: completion\n"
    "micro_batch_size: 2\n"
    "gradient_accumulation_steps: 2\n";  // 7 lines

struct Expected {
  const char* name;
  std::string added;  // behind `base`: its first line is line 8
  std::string_view id;
  int line, column, end_column;
};

std::string ids(const LoadedConfig& loaded) {
  std::string all;
  for (const auto& d : loaded.diagnostics) all += d.id + " " + d.message + "\n";
  return all;
}

TEST_CASE("load: a clean config has no finding and every value has its place") {
  const LoadedConfig loaded = load_config_text("t", base + "context_parallel_size: 4\n");
  CHECK(ids(loaded).empty());
  REQUIRE(loaded.config);
  const auto& cp = loaded.config->parallel.context_parallel_size;
  CHECK(*cp == 4);
  CHECK(cp.key == "context_parallel_size");
  CHECK(cp.span == diag::Span{"t", 8, 24, 8, 25});
  CHECK(cp.key_span == diag::Span{"t", 8, 1, 8, 22});
  CHECK_FALSE(loaded.config->parallel.tensor_parallel_size.given());
  REQUIRE(loaded.config->datasets.size() == 1);
  CHECK(*loaded.config->datasets[0].path == "./data.jsonl");
  CHECK(loaded.config->datasets[0].path.key == "datasets[0].path");
}

TEST_CASE("load: one finding for one mistake at its place") {
  const Expected table[] = {
      {"unknown key", "sequence_lenn: 4\n", "CP101", 8, 1, 14},
      {"unknown nested key", "fsdp_config:\n  offload_parms: true\n", "CP101", 9, 3, 16},
      {"unknown cpplan key", "cpplan:\n  model:\n    hiden_size: 8\n", "CP102", 10, 5, 15},
      {"unknown cpplan section", "cpplan:\n  modell: {}\n", "CP102", 9, 3, 9},
      {"Megatron's key", "tensor_model_parallel_size: 2\n", "CP103", 8, 1, 27},
      {"Megatron's flag", "--tensor-model-parallel-size: 2\n", "CP103", 8, 1, 29},
      {"fraction", "sequence_len: 4096.5\n", "CP104", 8, 15, 21},
      {"wrong type below cpplan", "cpplan: {model: {hidden_size: big}}\n", "CP104", 8, 31, 34},
      {"wrong type in an override", "overrides_of_model_config: {num_attention_heads: x}\n",
       "CP104", 8, 50, 51},
      {"boolean for text", "eval_strategy: no\n", "CP104", 8, 16, 18},
      {"scalar for a list", "plugins: x\n", "CP104", 8, 10, 11},
      {"null", "sequence_len:\n", "CP106", 8, 1, 13},
      {"val_set_size null", "val_set_size:\n", "CP106", 8, 1, 13},
      {"sexagesimal", "max_steps: 10:00\n", "CP107", 8, 12, 17},
      {"octal", "sequence_len: 0100\n", "CP108", 8, 15, 19},
      {"underscore", "sequence_len: 1_000\n", "CP109", 8, 15, 20},
      {"quoted false", "sample_packing: \"false\"\n", "CP110", 8, 17, 24},
      {"choice", "excess_length_strategy: split\n", "CP112", 8, 25, 30},
      {"nearly a scheduler", "lr_scheduler: cosin\n", "CP112", 8, 15, 20},
      {"nearly an optimizer", "optimizer: adamw_torhc\n", "CP112", 8, 12, 23},
      {"attention short name", "attn_implementation: flash\n", "CP112", 8, 22, 27},
      {"old name", "sequence_parallel_degree: 2\n", "CP113", 8, 1, 25},
      {"old fsdp prefix", "fsdp_config:\n  fsdp_offload_params: true\n", "CP113", 9, 3, 22},
      {"old fsdp version", "fsdp_config:\n  version: 2\n", "CP113", 9, 3, 10},
      {"removed", "rope_scaling: {type: linear}\n", "CP114", 8, 1, 13},
      {"batch_size with accumulation", "batch_size: 4\n", "CP115", 8, 1, 11},
      {"attention twice", "attn_implementation: sdpa\nflash_attention: true\n", "CP115", 9, 1, 16},
      {"world size", "world_size: 4\n", "CP116", 8, 13, 14},
      {"shard number alone", "dataset_shard_num: 2\n", "CP116", 8, 1, 18},
      {"max_steps zero", "max_steps: 0\n", "CP116", 8, 12, 13},
      {"too large", "sequence_len: 99999999999999999999\n", "CP117", 8, 15, 35},
      {"negative length", "sequence_len: -1\n", "CP119", 8, 15, 17},
      {"no epochs", "num_epochs: 0\n", "CP119", 8, 13, 14},
      {"negative steps", "max_steps: -5\n", "CP119", 8, 12, 14},
      {"everything validated", "val_set_size: 1\n", "CP119", 8, 15, 16},
      {"false as a number", "max_packed: 1\nlogging_steps: false\n", "CP101", 8, 1, 11},
  };
  for (const Expected& row : table) {
    CAPTURE(row.name);
    const LoadedConfig loaded = load_config_text("t", base + row.added);
    CAPTURE(ids(loaded));
    REQUIRE_FALSE(loaded.diagnostics.empty());
    CHECK(loaded.diagnostics[0].id == row.id);
    CHECK(loaded.diagnostics[0].span ==
          diag::Span{"t", row.line, row.column, row.line, row.end_column});
    CHECK(loaded.config.has_value());
  }
}

TEST_CASE("load: seven mistakes give seven findings in one run") {
  const LoadedConfig loaded = load_config_text("t",
                                               "base_model: x\n"
                                               "learning_rate: fast\n"
                                               "datasets:\n  - path: d\n    type: completion\n"
                                               "sequence_len: 1e4\n"
                                               "micro_batch_size: 0\n"
                                               "gradient_accumulation_steps: 2.5\n"
                                               "sample_packing: perhaps\n"
                                               "num_epochs: -1\n"
                                               "contxt_parallel_size: 2\n");
  CAPTURE(ids(loaded));
  REQUIRE(loaded.diagnostics.size() == 7);
  const int lines[] = {2, 6, 7, 8, 9, 10, 11};
  for (std::size_t i = 0; i < 7; ++i) CHECK(loaded.diagnostics[i].span.line == lines[i]);
}

TEST_CASE("load: a bad value has no value and the others stay") {
  const LoadedConfig loaded = load_config_text("t", base + "sequence_len: many\nmax_steps: 7\n");
  REQUIRE(loaded.config);
  CHECK_FALSE(loaded.config->batch.sequence_len.given());
  CHECK(loaded.config->batch.sequence_len.span.line == 8);
  CHECK(*loaded.config->batch.max_steps == 7);
}

TEST_CASE("load: required keys") {
  const LoadedConfig loaded = load_config_text("t", "micro_batch_size: 1\n");
  CHECK(loaded.diagnostics.size() == 4);  // base_model, learning_rate, datasets, a second batch key
  for (const auto& d : loaded.diagnostics) CHECK(d.severity == diag::Severity::error);
  const LoadedConfig null_rate = load_config_text("t", "base_model: x\nlearning_rate:\n");
  CHECK(ids(null_rate).find("CP105 learning_rate is required") != std::string::npos);
}

TEST_CASE("load: roots that are no mapping") {
  for (const char* text : {"", "# only a comment\n", "null\n", "{}\n"}) {
    CAPTURE(text);
    const LoadedConfig loaded = load_config_text("t", text);
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].id == "CP009");
    CHECK_FALSE(loaded.config.has_value());
  }
  const LoadedConfig list = load_config_text("t", "- sequence_len: 512\n");
  CHECK(list.diagnostics[0].id == "CP010");
  const LoadedConfig glued = load_config_text("t", "sequence_len:512\n");
  REQUIRE(glued.diagnostics.size() == 1);
  CHECK(glued.diagnostics[0].message.find("write sequence_len: 512") != std::string::npos);
  CHECK(load_config_text("t", "image:\n  name: x\n").diagnostics[0].id == "CP118");
}

TEST_CASE("load: encodings") {
  CHECK(load_config_text("t", "\xEF\xBB\xBF" + base).diagnostics.empty());
  CHECK(*load_config_text("t", "\xEF\xBB\xBF" + base).config->model.base_model == "./models/tiny");
  const LoadedConfig utf16 = load_config_text("t", std::string("\xFF\xFE"
                                                               "b\0a\0",
                                                               6));
  REQUIRE(utf16.diagnostics.size() == 1);
  CHECK(utf16.diagnostics[0].message.find("UTF-16") != std::string::npos);
}

TEST_CASE("load: an unknown key that only holds an anchor in use is no mistake") {
  CHECK(ids(load_config_text("t", base + "common: &c {offload_params: false}\n"
                                         "fsdp_config:\n  <<: *c\n"))
            .empty());
  CHECK(ids(load_config_text("t", base + "size: &s 64\nsequence_len: *s\n")).empty());
  CHECK(load_config_text("t", base + "common: &c {a: 1}\nother: *c\n").diagnostics.size() == 2);
}

TEST_CASE("load: overrides come after the file") {
  const Override set[] = {{"micro_batch_size", "8"},
                          {"cpplan.model.hidden_size", "64"},
                          {"datasets.0.path", "other.txt"},
                          {"sequence_len", "none"}};
  const LoadedConfig loaded =
      load_config_text("t", base + "max_steps: 3\n", std::span(set).first(3));
  CHECK(ids(loaded).empty());
  CHECK(*loaded.config->batch.micro_batch_size == 8);
  CHECK(loaded.config->batch.micro_batch_size.span == diag::Span{"--set"});
  CHECK(*loaded.config->model.hidden_size == 64);
  CHECK(*loaded.config->datasets[0].path == "other.txt");
  CHECK(*loaded.config->batch.max_steps == 3);
  const LoadedConfig null_length = load_config_text("t", base, std::span(set).last(1));
  REQUIRE(null_length.diagnostics.size() == 1);
  CHECK(null_length.diagnostics[0].id == "CP106");
}

TEST_CASE("load: a bad override is a finding without a line") {
  for (const Override& bad :
       {Override{"micro_batch_size", "two"}, Override{"micro_batch_size.x", "1"}, Override{"", "1"},
        Override{"a.", "1"}, Override{"datasets.7.path", "x"}, Override{"max_steps", "[1"}}) {
    CAPTURE(bad.key);
    const LoadedConfig loaded = load_config_text("t", base, std::span(&bad, 1));
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].span == diag::Span{"--set"});
    CHECK(loaded.diagnostics[0].severity == diag::Severity::error);
  }
}

TEST_CASE("load: batch keys") {
  const std::string head = base.substr(0, base.find("micro_batch_size"));
  const auto first = [&](const std::string& keys) {
    const LoadedConfig loaded = load_config_text("t", head + keys);
    return loaded.diagnostics.empty() ? std::string() : loaded.diagnostics[0].id;
  };
  CHECK(first("micro_batch_size: 2\n") == "CP120");
  CHECK(first("micro_batch_size: 2\nbatch_size: 64\n") == "CP121");
  CHECK(first("micro_batch_size: 4\nbatch_size: 10\ngradient_accumulation_steps:\n") == "CP121");
  CHECK(first("micro_batch_size: 4\nbatch_size: 8\ngradient_accumulation_steps:\n") == "");
  CHECK(first("micro_batch_size: 2\ngradient_accumulation_steps: -4\n") == "CP119");
  CHECK(first("micro_batch_size: 4294967296\ngradient_accumulation_steps: 4294967296\n") ==
        "CP117");
}

TEST_CASE("load: a quoted degree stops axolotl only beside deepspeed") {
  CHECK(load_config_text("t", base + "tensor_parallel_size: \"2\"\ndeepspeed: ds.json\n")
            .diagnostics[0]
            .id == "CP122");
  const LoadedConfig alone = load_config_text("t", base + "tensor_parallel_size: \"2\"\n");
  REQUIRE(alone.diagnostics.size() == 1);
  CHECK(alone.diagnostics[0].severity == diag::Severity::note);
  CHECK(*alone.config->parallel.tensor_parallel_size == 2);
}

TEST_CASE("load: a file that is not there is a failure") {
  const auto loaded = load_config("/no/such/file.yaml");
  REQUIRE_FALSE(loaded);
  CHECK(loaded.error().message == "cannot read /no/such/file.yaml (no such file or directory)");
}

TEST_CASE("load: a hundred lines take less than three milliseconds") {
  std::string text = base + "cpplan:\n  model:\n    hidden_size: 64\nlora_target_modules:\n";
  for (int i = 0; i < 90; ++i) text += "  - module_" + std::to_string(i) + "\n";
  using Clock = std::chrono::steady_clock;
  auto best = Clock::duration::max();
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    const LoadedConfig loaded = load_config_text("t", text);
    best = std::min(best, Clock::now() - start);
    CHECK(loaded.config.has_value());
  }
#ifdef CPPLAN_SANITIZED
  const auto limit = std::chrono::milliseconds(60);
#else
  const auto limit = std::chrono::milliseconds(3);
#endif
  CHECK(best < limit);
}

TEST_CASE("load: lines end where PyYAML ends them") {
  for (const std::string line_break : {"\r", "\r\n", "\xC2\x85", "\xE2\x80\xA8"}) {
    CAPTURE(line_break);
    std::string text = base + "max_steps: many\n";
    for (auto at = text.find('\n'); at != text.npos; at = text.find('\n', at + line_break.size()))
      text.replace(at, 1, line_break);
    const LoadedConfig loaded = load_config_text("t", text);
    REQUIRE(loaded.diagnostics.size() == 1);
    CHECK(loaded.diagnostics[0].span == diag::Span{"t", 8, 12, 8, 16});
    CHECK(*loaded.config->batch.micro_batch_size == 2);
  }
}

TEST_CASE("load: directives need a marker behind them") {
  CHECK(load_config_text("t", "%YAML 1.1\n---\n" + base).diagnostics.empty());
  CHECK(load_config_text("t", "# a\n%YAML 1.1\n%TAG ! x:\n\n--- # b\n" + base).diagnostics.empty());
  const LoadedConfig loaded = load_config_text("t", "%YAML 1.1\n# c\n" + base);
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].id == "CP001");
  CHECK(loaded.diagnostics[0].span.line == 3);
}

TEST_CASE("load: a key that stands twice with one value is a warning") {
  const LoadedConfig same = load_config_text("t", base + "max_steps: 3\nmax_steps: 3\n");
  REQUIRE(same.diagnostics.size() == 1);
  CHECK(same.diagnostics[0].id == "CP003");
  CHECK(same.diagnostics[0].severity == diag::Severity::warning);
  const LoadedConfig other = load_config_text("t", base + "max_steps: 3\nmax_steps: \"3\"\n");
  CHECK(other.diagnostics[0].severity == diag::Severity::error);
}

}  // namespace
}  // namespace cpplan::config
