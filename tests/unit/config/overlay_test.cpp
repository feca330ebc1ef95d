#include "config/overlay.hpp"

#include <doctest/doctest.h>

#include "config/load.hpp"

namespace cpplan::config {
namespace {

const std::string base =
    "base_model: ./models/tiny\n"
    "learning_rate: 0.0001\n"
    "datasets:\n"
    "  - path: ./data.jsonl\n"
    "    type: completion\n"
    "micro_batch_size: 2\n"
    "gradient_accumulation_steps: 2\n"
    "cpplan: {cluster: {nodes: 2, gpus_per_node: 8}}\n";

LoadedConfig load(std::vector<ConfigText> overlays, const LoadOptions& options = {}) {
  return load_config_texts({"base.yaml", base}, std::move(overlays), options);
}

std::string ids(const LoadedConfig& loaded) {
  std::string all;
  for (const auto& d : loaded.diagnostics) all += d.id + " " + d.message + "\n";
  return all;
}

TEST_CASE("overlay: later files win over earlier ones and overrides over all") {
  LoadOptions options;
  options.overrides = {{"max_steps", "9"}};
  const auto loaded = load({{"a.yaml", "micro_batch_size: 4\nsequence_len: 64\nmax_steps: 7\n"},
                            {"b.yaml", "sequence_len: 128\n"}},
                           options);
  CHECK(ids(loaded).empty());
  const auto& b = loaded.config->batch;
  CHECK(*b.micro_batch_size == 4);
  CHECK(*b.sequence_len == 128);
  CHECK(*b.max_steps == 9);
  CHECK(*b.gradient_accumulation_steps == 2);
  CHECK(b.gradient_accumulation_steps.origin() == "base.yaml");
  CHECK(b.micro_batch_size.origin() == "a.yaml");
  CHECK(b.sequence_len.origin() == "b.yaml");
  CHECK(b.max_steps.origin() == "--set");
}

TEST_CASE("overlay: mappings are merged and lists replaced") {
  const auto loaded = load({{"o.yaml",
                             "cpplan: {cluster: {nodes: 4}, model: {hidden_size: 64}}\n"
                             "datasets:\n  - path: other.jsonl\n    type: completion\n"}});
  CHECK(*loaded.config->cluster.nodes == 4);
  CHECK(*loaded.config->cluster.gpus_per_node == 8);
  CHECK(*loaded.config->model.hidden_size == 64);
  REQUIRE(loaded.config->datasets.size() == 1);
  CHECK(*loaded.config->datasets[0].path == "other.jsonl");
}

TEST_CASE("overlay: a finding points into the file that it is about") {
  const auto loaded = load({{"o.yaml", "\nsequence_len: many\n"}});
  REQUIRE(loaded.diagnostics.size() == 1);
  CHECK(loaded.diagnostics[0].span == diag::Span{"o.yaml", 2, 15, 2, 19});
  REQUIRE(loaded.overlays.size() == 1);
  CHECK(loaded.overlays[0].line(2) == "sequence_len: many");
}

TEST_CASE("overlay: an empty one changes nothing and a broken one is reported") {
  CHECK(ids(load({{"o.yaml", "# nothing\n"}})).empty());
  CHECK(load({{"o.yaml", "- 1\n"}}).diagnostics[0].id == "CP010");
  const auto broken = load({{"o.yaml", "a: [1\n"}});
  CHECK(broken.diagnostics[0].id == "CP001");
  CHECK(broken.config->batch.micro_batch_size.given());
}

TEST_CASE("overlay: null unsets what the file below says") {
  const auto loaded = load({{"o.yaml", "sequence_len:\nmicro_batch_size: 1\n"}});
  CHECK_FALSE(loaded.config->batch.sequence_len.given());
}

TEST_CASE("overlay: an empty file with a whole config on top is a config") {
  const auto loaded = load_config_texts({"empty.yaml", ""}, {{"whole.yaml", base}});
  CHECK(ids(loaded).empty());
  CHECK(*loaded.config->batch.micro_batch_size == 2);
}

TEST_CASE("overlay: aliases on both sides merge once a pair") {
  // 2^20 paths lead to the same few nodes.
  std::string text = "a0: &a0 {x: 1}\n";
  for (int i = 1; i <= 20; ++i) {
    const std::string n = std::to_string(i), m = std::to_string(i - 1);
    text += "a" + n + ": &a" + n + " {l: *a" + m + ", r: *a" + m + "}\n";
  }
  diag::Diagnostics findings;
  const diag::SourceFile source("t", text);
  Document one = parse_document(source, findings), two = parse_document(source, findings);
  const Node* both = merged(*one.root.node, *two.root.node, one);
  CHECK(both->find("a20")->value.node->find("l") != nullptr);
}

}  // namespace
}  // namespace cpplan::config
