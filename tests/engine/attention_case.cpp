#include "engine/attention_case.hpp"

#include <cmath>
#include <functional>
#include <optional>
#include <set>

namespace cpplan::test {
namespace {
using engine::CpCommType;
using kernels::Band;
using layout::DocumentLength;
using layout::Split;

struct Way {
  const char* name;
  CpCommType type;
  std::function<int(int cp)> inner = [](int) { return 1; };
};

int smallest_divisor(int n) {
  for (int d = 2; d < n; ++d)
    if (n % d == 0) return d;
  return n;
}

/// Query heads that share a KV head; 0: all share one.
struct Sharing {
  const char* name;
  Index queries;
};

struct Documents {
  const char* name;
  std::vector<DocumentLength> lengths;
  Index tail = 0;
};

struct Degree {
  int cp;
  Index heads;
};

const std::vector<Degree> degrees = {{1, 4}, {2, 4}, {3, 6}, {4, 8}, {5, 10}, {6, 12}, {8, 8}};

const std::vector<Way> ways = {
    {"p2p", CpCommType::p2p},
    {"all_gather", CpCommType::all_gather},
    {"a2a", CpCommType::a2a},
    {"a2a+p2p/few", CpCommType::a2a_p2p, smallest_divisor},
    {"a2a+p2p/many", CpCommType::a2a_p2p, [](int cp) { return cp / smallest_divisor(cp); }},
};

const std::vector<std::pair<const char*, Split>> splits = {{"head-tail", Split::head_tail},
                                                           {"contiguous", Split::contiguous},
                                                           {"striped", Split::striped}};

/// Windows of fewer rows than a chunk and of more; in the last a first token sees no key at all.
const std::vector<std::pair<const char*, Band>> masks = {
    {"causal", kernels::causal},
    {"full", kernels::bidirectional},
    {"window-3", kernels::sliding_window(3)},
    {"window-20", kernels::sliding_window(20)},
    {"two-sided", {6, 2}},
    {"strictly-causal", {Band::unbounded, -1}}};

const std::vector<Sharing> sharings = {{"mha", 1}, {"gqa-2", 2}, {"gqa-4", 4}, {"mqa", 0}};

const std::vector<Documents> batches = {
    {"one", {{61, 0}}},
    {"several", {{0, 0}, {1, 0}, {7, 0}, {23, 0}, {0, 0}, {6, 0}}},
    {"samples", {{9, 0}, {0, 0}, {1, 1}, {17, 1}}},
    {"tail", {{3, 0}, {5, 0}, {1, 0}}, 7},
    {"token", {{1, 0}}}};

const std::vector<double> dropouts = {0.0, 0.25};

constexpr std::size_t axis_count = 7;
using Choice = std::array<std::size_t, axis_count>;
const Choice sizes = {degrees.size(),  ways.size(),    splits.size(),  masks.size(),
                      sharings.size(), batches.size(), dropouts.size()};

bool can_run(const AttentionCase& c) {
  const Index exchanging = c.exchanging();
  if (c.kv_heads % exchanging != 0 && exchanging % c.kv_heads != 0) return false;
  return c.context_parallel.split != Split::striped || exchanging == 1 || exchanging == c.cp;
}

std::optional<AttentionCase> case_of(const Choice& choice) {
  const Degree& degree = degrees[choice[0]];
  const Way& way = ways[choice[1]];
  const Sharing& sharing = sharings[choice[4]];
  const Documents& batch = batches[choice[5]];
  if (sharing.queries > 0 && degree.heads % sharing.queries != 0) return std::nullopt;
  AttentionCase c;
  c.cp = degree.cp;
  c.context_parallel = {splits[choice[2]].second, {way.type}, way.inner(c.cp)};
  c.band = masks[choice[3]].second;
  c.heads = degree.heads;
  c.kv_heads = sharing.queries == 0 ? 1 : c.heads / sharing.queries;
  c.documents = batch.lengths;
  c.tail = batch.tail;
  c.dropout = dropouts[choice[6]];
  c.name = "cp" + std::to_string(c.cp);
  for (const char* part : {way.name, splits[choice[2]].first, masks[choice[3]].first, sharing.name,
                           batch.name, c.dropout > 0 ? "dropout" : "whole"})
    c.name += std::string(" ") + part;
  return can_run(c) ? std::optional(c) : std::nullopt;
}

/// Every choice that can run, the last axis fastest.
std::vector<Choice> all_choices() {
  std::vector<Choice> all;
  for (Choice choice{};;) {
    if (case_of(choice)) all.push_back(choice);
    std::size_t axis = axis_count;
    while (axis > 0 && ++choice[axis - 1] == sizes[axis - 1]) choice[--axis] = 0;
    if (axis == 0) return all;
  }
}

/// Numbers of the triples of values that meet in a choice.
std::vector<std::uint64_t> triples(const Choice& choice) {
  std::vector<std::uint64_t> out;
  for (std::uint64_t a = 0; a < axis_count; ++a)
    for (std::uint64_t b = a + 1; b < axis_count; ++b)
      for (std::uint64_t c = b + 1; c < axis_count; ++c)
        out.push_back((((((a * 8 + b) * 8 + c) * 8 + choice[a]) * 8 + choice[b]) * 8) + choice[c]);
  return out;
}

std::vector<AttentionCase> cases_of(const std::vector<Choice>& choices) {
  std::vector<AttentionCase> cases;
  for (const Choice& choice : choices) cases.push_back(*case_of(choice));
  return cases;
}

}  // namespace

int AttentionCase::exchanging() const {
  if (type() == CpCommType::a2a) return cp;
  return type() == CpCommType::a2a_p2p ? context_parallel.inner_size : 1;
}

engine::AttentionSettings AttentionCase::settings() const {
  return {.head_dim = head_dim,
          .first_head = 5,
          .band = band,
          .scale = 0.7,
          .dropout = {.key = 11, .site = 2, .first_sample = 3, .rate = dropout}};
}

layout::SequenceMap AttentionCase::map() const {
  const auto tight = layout::SequenceMap::padded(context_parallel.split, cp, documents);
  if (tail == 0) return tight;
  const Index multiple = layout::SequenceMap::multiple(context_parallel.split, cp);
  const Index capacity = round_up(tight.rows() * cp + tail, multiple) / cp;
  return layout::SequenceMap::padded(context_parallel.split, cp, documents, 1, capacity);
}

std::vector<AttentionCase> all_attention_cases() {
  return cases_of(all_choices());
}

/// Takes, one after another, the choice that adds most triples; a choice adds ever fewer, so one
/// that still adds as many as it did at the last look is the best.
std::vector<AttentionCase> covering_attention_cases() {
  std::vector<std::pair<std::size_t, Choice>> open;
  for (const Choice& choice : all_choices()) open.emplace_back(triples(choice).size(), choice);
  std::vector<Choice> taken;
  std::set<std::uint64_t> met;
  for (std::size_t wanted = open.empty() ? 0 : open.front().first; wanted > 0; --wanted) {
    for (auto& [gain, choice] : open) {
      if (gain < wanted) continue;
      gain = 0;
      for (const auto triple : triples(choice)) gain += !met.contains(triple);
      if (gain < wanted) continue;
      taken.push_back(choice);
      for (const auto triple : triples(choice)) met.insert(triple);
    }
  }
  return cases_of(taken);
}

}  // namespace cpplan::test
