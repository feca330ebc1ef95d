#include "engine/step_trace.hpp"

#include <algorithm>

namespace cpplan::engine {
namespace {
using Kind = TraceEvent::Kind;

bool same_route(const kernels::Route& a, const kernels::Route& b) {
  return a.peer == b.peer && a.sent == b.sent && a.received == b.received;
}

bool same_cost(const kernels::Cost& a, const kernels::Cost& b) {
  return a.flops == b.flops && a.read == b.read && a.written == b.written && a.inner == b.inner;
}

}  // namespace

bool operator==(const TraceEvent& a, const TraceEvent& b) {
  return a.kind == b.kind && a.op == b.op && same_cost(a.cost, b.cost) &&
         a.communicator == b.communicator && a.group == b.group && a.collective == b.collective &&
         a.sent == b.sent && std::ranges::equal(a.routes, b.routes, same_route) &&
         a.starts_ago == b.starts_ago;
}

std::size_t StepTrace::Hash::operator()(const TraceEvent& event) const {
  std::size_t hash = static_cast<std::size_t>(event.kind);
  const auto mix = [&](Index value) {
    hash = (hash ^ static_cast<std::size_t>(value)) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 32;
  };
  mix(std::ssize(event.op));
  mix(event.cost.flops.count), mix(event.cost.read.count), mix(event.cost.written.count);
  mix(event.cost.inner), mix(event.communicator), mix(event.sent.count), mix(event.starts_ago);
  for (const auto& route : event.routes) mix(route.peer), mix(route.sent.count);
  return hash;
}

void StepTrace::add(TraceEvent event) {
  const auto next = static_cast<std::uint32_t>(distinct_.size());
  const auto [found, fresh] = numbers_.try_emplace(std::move(event), next);
  if (fresh) distinct_.push_back(found->first);
  order_.push_back(found->second);
}

void StepTrace::compute(std::string_view op, const kernels::Cost& cost) {
  add({.kind = Kind::compute, .op = op, .cost = cost});
}

void StepTrace::start(const kernels::TransferStart& transfer) {
  if (transfer.size == 1) return;
  under_way_[transfer.id] = started_++;
  add({.kind = Kind::start,
       .communicator = transfer.communicator,
       .group = transfer.group,
       .collective = transfer.collective,
       .sent = transfer.sent,
       .routes = {transfer.routes.begin(), transfer.routes.end()}});
}

void StepTrace::wait(std::string_view group, int id) {
  const auto transfer = under_way_.find(id);
  if (transfer == under_way_.end()) return;
  add({.kind = Kind::wait, .group = group, .starts_ago = started_ - 1 - transfer->second});
  under_way_.erase(transfer);
}

void StepTrace::clear() {
  order_.clear();
  under_way_.clear();
  started_ = 0;
}

Flops StepTrace::flops() const {
  Flops sum;
  for (const auto number : order_) sum += distinct_[number].cost.flops;
  return sum;
}

Flops StepTrace::flops(std::string_view op) const {
  Flops sum;
  for (const auto number : order_)
    if (distinct_[number].op == op) sum += distinct_[number].cost.flops;
  return sum;
}

}  // namespace cpplan::engine
