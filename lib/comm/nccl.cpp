#include "comm/nccl.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace cpplan::comm {
namespace {
using Id = NcclApi::UniqueId;

NcclApi::Type type_of(kernels::DType dtype) {
  switch (dtype) {
    case kernels::DType::i32:
      return NcclApi::Type::i32;
    case kernels::DType::bf16:
      return NcclApi::Type::bf16;
    case kernels::DType::f32:
      return NcclApi::Type::f32;
    case kernels::DType::f64:
      return NcclApi::Type::f64;
  }
  return NcclApi::Type::f32;
}

NcclApi::Op op_of(Reduce reduce) {
  return reduce == Reduce::sum ? NcclApi::Op::sum : NcclApi::Op::max;
}

/// One operation of NCCL, on memory without gaps.
struct Operation {
  Collective collective;
  NcclLane* lane;
  Tensor in, out;                         // of a message one of them
  Message::Way way = Message::Way::send;  // of a message
  int peer = 0;                           // of a message: in the lane
  Reduce reduce = Reduce::sum;
};

class Pending final : public Work::Pending {
 public:
  Pending(NcclWorld& world, std::vector<std::shared_ptr<const NcclTransfer>> transfers)
      : world_(world), transfers_(std::move(transfers)) {}

  void wait() override {
    world_.monitor().check();
    kernels::Device& device = world_.device();
    for (const auto& transfer : transfers_) device.wait(device.compute_stream(), transfer->end);
    world_.monitor().check();  // a device that computes as it is told has waited
  }

 private:
  NcclWorld& world_;
  std::vector<std::shared_ptr<const NcclTransfer>> transfers_;
};

class NcclCommunicator final : public Communicator {
 public:
  NcclCommunicator(NcclWorld& world, Communicator& host, std::vector<int> members, NcclLanes lanes,
                   kernels::Trace& trace)
      : Communicator(host.group(), host.rank(), host.size(), trace),
        world_(world),
        members_(std::move(members)),
        layout_(lanes),
        ready_(world.take_event()) {
    for (int rank = 0; rank < size(); ++rank)
      if (rank != this->rank()) peers_->push_back(members_[static_cast<std::size_t>(rank)]);
    if (size() > 1) ids_ = ids_of_all(host);
    lanes_.resize(ids_.size());
  }

 private:
  std::unique_ptr<Work::Pending> start(const Transfer&) override;
  void copy(const Tensor& from, const Tensor& to) override {
    world_.device().copy(from, to, world_.device().compute_stream());
  }

  std::vector<Id> ids_of_all(Communicator& host);
  NcclLane& lane(int number);
  /// Who receives what the rank sends on its lane of a chain.
  int receiver_of(int sender) const {
    return (sender + (layout_ == NcclLanes::to_next ? 1 : size() - 1)) % size();
  }

  std::vector<Operation> operations_of(const Transfer&);
  Operation operation_of(const Message&);
  void start_after_compute(const std::vector<NcclLane*>&);
  std::vector<Operation> pack(const std::vector<Operation>&);
  void call(const Operation&);
  void unpack(const std::vector<Operation>& packed, const std::vector<Operation>&);
  void count(const Transfer&);
  std::shared_ptr<const std::vector<int>> peers_of(const Transfer&) const;

  NcclWorld& world_;
  std::vector<int> members_;
  NcclLanes layout_;
  kernels::Event ready_;
  std::shared_ptr<std::vector<int>> peers_ = std::make_shared<std::vector<int>>();
  std::vector<Id> ids_;                           // of the lanes
  std::vector<std::unique_ptr<NcclLane>> lanes_;  // those that were needed; of a chain by sender
};

/// Of a group the first rank makes the one that counts, of a chain each rank that of its own lane.
std::vector<Id> NcclCommunicator::ids_of_all(Communicator& host) {
  constexpr Index words = sizeof(Id) / sizeof(std::int32_t);
  Id mine;
  if (rank() == 0 || layout_ != NcclLanes::group) mine = world_.make_id();
  std::vector<Id> all(static_cast<std::size_t>(size()));
  const auto bytes = [](Id& id) { return reinterpret_cast<std::byte*>(id.internal.data()); };
  host.all_gather({bytes(mine), 1, words, words, kernels::DType::i32},
                  {bytes(all.front()), size(), words, words, kernels::DType::i32})
      .wait();
  return all;
}

/// Connected when it is first needed, since a layout has groups that it never uses; all ranks of
/// the lane need it for the same transfer. Lane i of a chain is the one that rank i sends on.
NcclLane& NcclCommunicator::lane(int number) {
  const auto i = static_cast<std::size_t>(number);
  if (lanes_[i]) return *lanes_[i];
  const bool of_all = layout_ == NcclLanes::group;
  const int place = of_all ? rank() : rank() == number ? 0 : 1;
  lanes_[i] = std::make_unique<NcclLane>(world_, ids_[i], place, of_all ? size() : 2, group());
  return *lanes_[i];
}

Operation NcclCommunicator::operation_of(const Message& m) {
  Operation operation{Collective::exchange, nullptr, m.buffer, m.buffer, m.way, m.peer};
  if (layout_ == NcclLanes::group) {
    operation.lane = &lane(0);
    return operation;
  }
  const int sender = m.sends() ? rank() : m.peer, receiver = m.sends() ? m.peer : rank();
  expect(receiver_of(sender) == receiver, "a pipeline sends to its neighbour");
  operation.lane = &lane(sender);
  operation.peer = m.sends() ? 1 : 0;
  return operation;
}

std::vector<Operation> NcclCommunicator::operations_of(const Transfer& t) {
  std::vector<Operation> operations;
  if (t.collective != Collective::exchange) {
    expect(layout_ == NcclLanes::group, "a collective is of a group");
    if (t.in.elements() > 0)
      operations.push_back({.collective = t.collective,
                            .lane = &lane(0),
                            .in = t.in,
                            .out = t.out,
                            .reduce = t.reduce});
    return operations;
  }
  expect(layout_ == NcclLanes::group || t.messages.size() == 1,
         "a pipeline exchanges one message at a time");
  for (const Message& m : t.messages)
    if (m.buffer.elements() > 0) operations.push_back(operation_of(m));
  return operations;
}

std::vector<NcclLane*> lanes_of(const std::vector<Operation>& operations) {
  std::vector<NcclLane*> lanes;
  for (const Operation& operation : operations)
    if (std::find(lanes.begin(), lanes.end(), operation.lane) == lanes.end())
      lanes.push_back(operation.lane);
  return lanes;
}

std::unique_ptr<Work::Pending> NcclCommunicator::start(const Transfer& t) {
  world_.monitor().check();
  const auto operations = operations_of(t);
  const auto lanes = lanes_of(operations);
  start_after_compute(lanes);
  const auto packed = pack(operations);
  NcclTransfer transfer{group(), t.collective, peers_of(t)};
  world_.group(lanes, transfer, [&] {
    for (const Operation& operation : packed) call(operation);
  });
  unpack(packed, operations);
  count(t);
  std::vector<std::shared_ptr<const NcclTransfer>> transfers;
  for (const NcclLane* lane : lanes) {
    transfer.end = world_.take_event();
    world_.device().record(transfer.end, lane->stream());
    transfers.push_back(world_.watch(transfer));
  }
  return std::make_unique<Pending>(world_, std::move(transfers));
}

void NcclCommunicator::start_after_compute(const std::vector<NcclLane*>& lanes) {
  kernels::Device& device = world_.device();
  device.record(ready_, device.compute_stream());
  for (NcclLane* lane : lanes) {
    device.wait(lane->stream(), ready_);
    lane->begin_transfer();
  }
}

/// NCCL knows no strides: columns of wider matrices go through memory of the lane.
std::vector<Operation> NcclCommunicator::pack(const std::vector<Operation>& operations) {
  std::vector<Operation> packed = operations;
  for (Operation& operation : packed) {
    const Tensor in = operation.in;
    if (!operation.out.contiguous()) operation.out = operation.lane->packed(operation.out);
    if (in.contiguous()) continue;
    operation.in = operation.lane->packed(in);
    if (operation.collective != Collective::exchange || operation.way == Message::Way::send)
      world_.device().copy(in, operation.in, operation.lane->stream());
  }
  return packed;
}

void NcclCommunicator::call(const Operation& o) {
  const NcclApi& api = world_.api();
  NcclApi::Comm* comm = o.lane->comm();
  void* stream = o.lane->stream().handle;
  const auto type = type_of(o.in.dtype);
  const auto count = [](const Tensor& t) { return static_cast<std::size_t>(t.elements()); };
  switch (o.collective) {
    case Collective::exchange:
      if (o.way == Message::Way::send)
        return world_.check(api.send(o.in.data, count(o.in), type, o.peer, comm, stream),
                            "ncclSend");
      return world_.check(api.receive(o.out.data, count(o.out), type, o.peer, comm, stream),
                          "ncclRecv");
    case Collective::all_gather:
      return world_.check(api.all_gather(o.in.data, o.out.data, count(o.in), type, comm, stream),
                          "ncclAllGather");
    case Collective::reduce_scatter:
      return world_.check(api.reduce_scatter(o.in.data, o.out.data, count(o.out), type,
                                             op_of(o.reduce), comm, stream),
                          "ncclReduceScatter");
    case Collective::all_reduce:
      return world_.check(
          api.all_reduce(o.in.data, o.out.data, count(o.in), type, op_of(o.reduce), comm, stream),
          "ncclAllReduce");
  }
}

void NcclCommunicator::unpack(const std::vector<Operation>& packed,
                              const std::vector<Operation>& operations) {
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const Operation& o = packed[i];
    const bool arrives = o.collective != Collective::exchange || o.way == Message::Way::receive;
    if (arrives && o.out.data != operations[i].out.data)
      world_.device().copy(o.out, operations[i].out, o.lane->stream());
  }
}

/// NCCL does not say what it puts on the wire for a collective; it is counted as the ring has it.
void NcclCommunicator::count(const Transfer& t) {
  const Index messages = sent_messages(t, rank(), size());
  if (messages > 0)
    world_.host().count(group(), t.collective, sent_bytes(t, rank(), size()), messages);
}

std::shared_ptr<const std::vector<int>> NcclCommunicator::peers_of(const Transfer& t) const {
  if (t.collective != Collective::exchange) return peers_;
  auto peers = std::make_shared<std::vector<int>>();
  for (const Message& m : t.messages) peers->push_back(members_[static_cast<std::size_t>(m.peer)]);
  std::sort(peers->begin(), peers->end());
  peers->erase(std::unique(peers->begin(), peers->end()), peers->end());
  return peers;
}

}  // namespace

std::unique_ptr<Communicator> make_nccl_communicator(NcclWorld& world, Communicator& host,
                                                     std::vector<int> members, NcclLanes lanes,
                                                     kernels::Trace& trace) {
  return std::make_unique<NcclCommunicator>(world, host, std::move(members), lanes, trace);
}

}  // namespace cpplan::comm
