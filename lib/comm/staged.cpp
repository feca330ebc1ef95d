#include "comm/staged.hpp"

#include <algorithm>

#include "base/failure.hpp"

namespace cpplan::comm {
namespace {

/// A tensor of the device and its copy in pinned memory, without gaps.
struct Twin {
  Tensor device, host;
};

/// The host waits until the device has copied what it sends.
class CopyOut final : public Ongoing {
 public:
  CopyOut(kernels::Device& device, kernels::Event event, std::string_view group)
      : device_(device), event_(event), group_(group) {}
  bool advance() override { return device_.done(event_); }
  Awaited awaited() const override {
    return {"the device", "copy to the host for group \"" + std::string(group_) + '"'};
  }
  bool polled() const override { return true; }

 private:
  kernels::Device& device_;
  kernels::Event event_;
  std::string_view group_;
};

class StagedCommunicator final : public Communicator {
 public:
  StagedCommunicator(kernels::Device& device, PinnedBlocks& blocks, Endpoint& endpoint,
                     std::unique_ptr<Communicator> host, kernels::Trace& trace)
      : Communicator(host->group(), host->rank(), host->size(), trace),
        device_(device),
        blocks_(blocks),
        endpoint_(endpoint),
        host_(std::move(host)),
        copied_(device.make_event()) {}

 private:
  class Arrival;

  std::unique_ptr<Work::Pending> start(const Transfer&) override;
  void copy(const Tensor& from, const Tensor& to) override {
    device_.copy(from, to, device_.compute_stream());
  }

  std::unique_ptr<Arrival> start_exchange(std::span<const Message>);
  std::unique_ptr<Arrival> start_collective(const Transfer&);
  Work on_host(const Transfer&, const Tensor& in, const Tensor& out);
  void copy_out(const std::vector<Twin>&);

  kernels::Device& device_;
  PinnedBlocks& blocks_;
  Endpoint& endpoint_;
  std::unique_ptr<Communicator> host_;
  kernels::Event copied_;
};

/// A transfer of the host under way, in pinned memory, and where on the device it ends.
class StagedCommunicator::Arrival final : public Work::Pending {
 public:
  explicit Arrival(StagedCommunicator& group) : group_(group) {}
  ~Arrival() override {
    try {
      for (auto* block : taken_) group_.blocks_.give_back(*block, group_.device_.compute_stream());
    } catch (const Failure&) {
      // The device has failed, as its next call says, and the blocks stay taken.
    }
  }
  Arrival(const Arrival&) = delete;
  Arrival& operator=(const Arrival&) = delete;

  Twin twin_of(const Tensor& device) {
    auto& block = group_.blocks_.take(device.bytes());
    taken_.push_back(&block);
    return {device, {block.data, device.rows, device.cols, device.cols, device.dtype}};
  }
  void arrives(const Twin& twin) { arriving_.push_back(twin); }
  void set_work(Work work) { work_ = std::move(work); }

  void wait() override {
    work_.wait();
    for (const Twin& twin : arriving_)
      group_.device_.copy(twin.host, twin.device, group_.device_.compute_stream());
  }

 private:
  StagedCommunicator& group_;
  std::vector<PinnedBlocks::Block*> taken_;
  std::vector<Twin> arriving_;
  Work work_;
};

std::unique_ptr<Work::Pending> StagedCommunicator::start(const Transfer& t) {
  return t.collective == Collective::exchange ? start_exchange(t.messages) : start_collective(t);
}

std::unique_ptr<StagedCommunicator::Arrival> StagedCommunicator::start_exchange(
    std::span<const Message> messages) {
  auto arrival = std::make_unique<Arrival>(*this);
  std::vector<Twin> leaving;
  std::vector<Message> of_host;
  for (const Message& m : messages) {
    const Twin twin = arrival->twin_of(m.buffer);
    of_host.push_back({m.way, m.peer, twin.host});
    if (m.sends())
      leaving.push_back(twin);
    else
      arrival->arrives(twin);
  }
  copy_out(leaving);
  arrival->set_work(host_->exchange(of_host));
  return arrival;
}

std::unique_ptr<StagedCommunicator::Arrival> StagedCommunicator::start_collective(
    const Transfer& t) {
  auto arrival = std::make_unique<Arrival>(*this);
  const Twin in = arrival->twin_of(t.in);
  const bool in_place = t.collective == Collective::all_reduce;
  const Twin out = in_place ? in : arrival->twin_of(t.out);
  copy_out({in});
  arrival->arrives(out);
  arrival->set_work(on_host(t, in.host, out.host));
  return arrival;
}

Work StagedCommunicator::on_host(const Transfer& t, const Tensor& in, const Tensor& out) {
  if (t.collective == Collective::all_gather) return host_->all_gather(in, out);
  if (t.collective == Collective::reduce_scatter) return host_->reduce_scatter(in, out);
  return host_->all_reduce(in, t.reduce);
}

void StagedCommunicator::copy_out(const std::vector<Twin>& leaving) {
  if (leaving.empty()) return;
  const kernels::Stream stream = device_.compute_stream();
  for (const Twin& twin : leaving) device_.copy(twin.device, twin.host, stream);
  device_.record(copied_, stream);
  CopyOut copying(device_, copied_, group());
  endpoint_.wait_for(copying);
}

}  // namespace

PinnedBlocks::Block& PinnedBlocks::take(Bytes size) {
  Block* best = nullptr;
  for (Block& block : blocks_) {
    const bool fits = !block.taken && block.size >= size && device_.done(block.copied);
    if (fits && (!best || block.size < best->size)) best = &block;
  }
  if (!best) {
    best = &blocks_.emplace_back();
    best->size = std::max(size, Bytes{1});
    best->data = device_.allocate_pinned(best->size);
    best->copied = device_.make_event();
  }
  best->taken = true;
  return *best;
}

void PinnedBlocks::give_back(Block& block, kernels::Stream stream) {
  device_.record(block.copied, stream);
  block.taken = false;
}

std::unique_ptr<Communicator> make_staged_communicator(kernels::Device& device,
                                                       PinnedBlocks& blocks, Endpoint& endpoint,
                                                       std::unique_ptr<Communicator> host,
                                                       kernels::Trace& trace) {
  return std::make_unique<StagedCommunicator>(device, blocks, endpoint, std::move(host), trace);
}

}  // namespace cpplan::comm
