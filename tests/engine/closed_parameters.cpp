// ZeRO (arXiv 1910.02054 §7), FSDP (arXiv 2304.11277) and hybrid sharding.
#include <algorithm>

#include "engine/closed_stage.hpp"
#include "engine/schedule.hpp"

namespace cpplan::test {
namespace {
using engine::Sharding;

/// Tensors of a unit lie side by side, each from a multiple of 64 elements on, and so do its
/// shards.
Index aligned(Index elements) {
  return round_up(elements, 64);
}

/// What is gathered and reduced together: a layer, or one of the embedding, the final norm and the
/// output projection. Units of one lane take turns in a buffer.
struct Unit {
  Index number;    // of the layer; below 0: of the ends of the model
  Index elements;  // of one TP rank, all shards together
  int lane;
};

class Units {
 public:
  explicit Units(const ClosedStage& s) : s_(s) {}

  Unit layer(Index number) const {
    const auto& m = s_.job.model;
    const Index h = m.hidden_size, q = m.num_attention_heads * m.head_dim / s_.tp * h;
    const Index k = m.num_key_value_heads * m.head_dim / s_.tp * h;
    const Index mlp = m.intermediate_size / s_.tp * h;
    const Index elements = 2 * aligned(h) + 2 * aligned(q) + 2 * aligned(k) + 3 * aligned(mlp);
    return {number, in_shards(elements), 2 + static_cast<int>(number % 2)};
  }
  Unit embedding() const { return {-1, in_shards(table()), 0}; }
  std::vector<Unit> head() const {
    return {{-2, in_shards(s_.job.model.hidden_size), 1}, {-3, in_shards(table()), 0}};
  }

  Index elements() const {
    Index sum = s_.first ? embedding().elements : 0;
    for (const Index number : s_.layers) sum += layer(number).elements;
    if (!s_.last) return sum;
    for (const Unit& unit : head()) sum += unit.elements;
    return sum;
  }

 private:
  Index table() const {
    return ceil_div(s_.job.model.vocab_size, s_.tp) * s_.job.model.hidden_size;
  }
  Index in_shards(Index elements) const {
    return s_.shards * aligned(ceil_div(elements, s_.shards));
  }

  const ClosedStage& s_;
};

/// Elements that a step gathers where each pass needs whole units and a lane holds the last one.
class Gathers {
 public:
  explicit Gathers(const ClosedStage& s) : s_(s), units_(s) {}

  Index elements() {
    const engine::Job& job = s_.job;
    const int last = job.dims.pp * job.virtual_stages - 1;
    for (const auto& action :
         engine::schedule_of(s_.number, job.dims.pp, job.virtual_stages, job.micro_batches)) {
      const int stage = action.chunk * job.dims.pp + s_.number;
      const bool forward = action.kind == engine::Action::Kind::forward;
      std::vector<Index> layers = layers_of(job, stage);
      if (forward && stage == 0) need(units_.embedding());
      if (!forward && stage == last) need_head();
      if (!forward) std::reverse(layers.begin(), layers.end());
      for (const Index layer : layers) need(units_.layer(layer));
      if (forward && stage == last) need_head();
    }
    return gathered_;
  }

 private:
  void need_head() {
    for (const Unit& unit : units_.head()) need(unit);
  }
  void need(const Unit& unit) {
    const auto found = held_.find(unit.lane);
    if (found != held_.end() && found->second == unit.number) return;
    held_[unit.lane] = unit.number;
    gathered_ += unit.elements;
  }

  const ClosedStage& s_;
  Units units_;
  std::map<int, Index> held_;
  Index gathered_ = 0;
};

/// Elements gathered in a step: after the optimizer, or whenever a pass needs them.
Index gathered(const ClosedStage& s) {
  const bool once = s.sharding == Sharding::optimizer || !s.job.data_parallel.reshard_after_forward;
  return once ? Units(s).elements() : Gathers(s).elements();
}

}  // namespace

void add_parameters(const ClosedStage& s, Sum& v) {
  const Index elements = Units(s).elements();
  if (!s.sharded) {
    v.add("dp_cp", "all_reduce", 2 * (s.dp * s.cp - 1) * s.tp * elements * s.sum);
    return;
  }
  const Index times = s.sharding == Sharding::parameters ? s.micro_batches : 1;
  const Index rings = s.tp * s.copies * (s.shards - 1);
  v.add("dp_shard_cp", "reduce_scatter", rings * times * elements * s.sum);
  v.add("dp_shard_cp", "all_gather", rings * gathered(s) * s.element);
  v.add("dp_replicate", "all_reduce", 2 * (s.copies - 1) * s.tp * elements * s.sum);
}

}  // namespace cpplan::test
