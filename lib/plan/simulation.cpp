#include "plan/simulation.hpp"

#include <algorithm>
#include <deque>
#include <queue>

#include "base/contract.hpp"
#include "plan/transfer_time.hpp"

namespace cpplan::plan {
namespace {
using cluster::HardwareProfile;
using engine::TraceEvent;
using Kind = TraceEvent::Kind;

/// Of one rank, from its start to its wait.
struct Transfer {
  int rank = 0;
  const TraceEvent* event = nullptr;
  const SimulatedGroup* group = nullptr;
  double begin = 0;    // when the last of its counterparts has come
  double seconds = 0;  // that it takes from then on
  double done = 0;
  int missing = 0;  // counterparts that have not come
};

/// Messages from one rank to another: of sends and receives only one kind waits at a time.
struct Channel {
  std::deque<Transfer*> sends, receives;
};

/// A collective that some of its ranks have come to.
struct Meeting {
  std::vector<Transfer*> here;
};

/// When a communicator's two ways are free.
struct Lanes {
  double out = 0, in = 0;
};

struct Process {
  const SimulatedRank* rank = nullptr;
  std::size_t next = 0;
  double now = 0;
  std::deque<Transfer> transfers;  // by their order of start
  const Transfer* blocked_on = nullptr;
  SimulatedTime time;
};

void add(SecondsByGroup& sums, std::string_view group, double seconds) {
  const auto sum = sums.find(group);
  if (sum == sums.end())
    sums.emplace(group, seconds);
  else
    sum->second += seconds;
}

class Simulation {
 public:
  Simulation(const std::vector<SimulatedRank>& ranks, const HardwareProfile& profile,
             const SimulationSettings& settings)
      : profile_(profile), settings_(settings), processes_(ranks.size()) {
    for (std::size_t i = 0; i < ranks.size(); ++i) processes_[i].rank = &ranks[i];
    if (profile.cores) cores_free_.assign(static_cast<std::size_t>(*profile.cores), 0.0);
    for (const SimulatedRank& rank : ranks) seconds_.push_back(seconds_of_ops(rank.trace));
  }

  std::vector<SimulatedTime> run() {
    for (int rank = 0; rank < std::ssize(processes_); ++rank) ready_.push({0.0, rank});
    while (!ready_.empty()) {
      const int rank = ready_.top().second;
      ready_.pop();
      advance(rank);
    }
    std::vector<SimulatedTime> times;
    for (Process& process : processes_) {
      expect(process.next == process.rank->trace.size(), "every transfer has its counterpart");
      process.time.end = process.now;
      times.push_back(std::move(process.time));
    }
    return times;
  }

 private:
  using Ready = std::pair<double, int>;  // when, which rank

  std::vector<double> seconds_of_ops(const engine::StepTrace& trace) const {
    std::vector<double> seconds;
    for (const TraceEvent& event : trace.distinct()) {
      const auto bytes = event.cost.read + event.cost.written;
      const cluster::OpWork work{.op = event.op,
                                 .flops = static_cast<double>(event.cost.flops.count),
                                 .bytes = static_cast<double>(bytes.count),
                                 .inner = static_cast<double>(event.cost.inner),
                                 .precision = settings_.precision,
                                 .neighbours = settings_.neighbours};
      seconds.push_back(event.kind == Kind::compute ? profile_.seconds_of(work) : 0.0);
    }
    return seconds;
  }

  /// Runs a rank until it is blocked, at its end, or later than another that is ready.
  void advance(int rank) {
    Process& process = processes_[static_cast<std::size_t>(rank)];
    const engine::StepTrace& trace = process.rank->trace;
    while (process.next < trace.size()) {
      if (!ready_.empty() && ready_.top().first < process.now)
        return ready_.push({process.now, rank});
      const TraceEvent& event = trace[process.next];
      if (event.kind == Kind::compute) compute(process, rank);
      if (event.kind == Kind::start) start(process, rank, event);
      if (event.kind == Kind::wait && !wait(process, event)) return;
      ++process.next;
    }
  }

  void compute(Process& process, int rank) {
    const auto number = process.rank->trace.number(process.next);
    const double seconds = seconds_[static_cast<std::size_t>(rank)][number];
    const double begin = std::max(process.now, take_core(process.now, seconds));
    if (begin > process.now) process.time.waiting["cores"] += begin - process.now;
    process.time.compute += seconds;
    process.now = begin + seconds;
  }

  /// When a core is free, where ranks share them.
  double take_core(double now, double seconds) {
    if (cores_free_.empty()) return now;
    const auto core = std::ranges::min_element(cores_free_);
    const double begin = std::max(now, *core);
    *core = begin + seconds;
    return begin;
  }

  void start(Process& process, int rank, const TraceEvent& event) {
    const auto& group = process.rank->groups.at(event.communicator);
    Transfer& transfer = process.transfers.emplace_back();
    transfer.rank = rank, transfer.event = &event, transfer.group = &group;
    transfer.begin = process.now;
    if (event.collective == "exchange")
      exchange(transfer);
    else
      meet(transfer);
  }

  void meet(Transfer& transfer) {
    const int participants = static_cast<int>(transfer.group->participants.size());
    transfer.seconds = collective_seconds(profile_, transfer.event->collective,
                                          transfer.event->sent, *transfer.group);
    transfer.missing = 1;
    int& turn = turns_[{transfer.group->id, transfer.rank}];
    Meeting& meeting = meetings_[{transfer.group->id, turn++}];
    meeting.here.push_back(&transfer);
    if (std::ssize(meeting.here) < participants) return;
    double begin = 0;
    for (const Transfer* each : meeting.here) begin = std::max(begin, each->begin);
    for (Transfer* each : meeting.here) each->begin = begin, come(*each);
    meetings_.erase({transfer.group->id, turn - 1});
  }

  void exchange(Transfer& transfer) {
    transfer.seconds = exchange_seconds(profile_, transfer.event->routes, *transfer.group);
    const auto& routes = transfer.event->routes;
    for (const auto& route : routes)
      transfer.missing += (route.sent.count > 0) + (route.received.count > 0);
    if (transfer.missing == 0) return finish(transfer);
    for (const auto& route : routes) {
      const int peer = transfer.group->members[static_cast<std::size_t>(route.peer)];
      if (route.sent.count > 0)
        send(transfer, channels_[{transfer.group->id, transfer.rank, peer}]);
      if (route.received.count > 0)
        receive(transfer, channels_[{transfer.group->id, peer, transfer.rank}]);
    }
  }

  void send(Transfer& transfer, Channel& channel) {
    if (channel.receives.empty()) return channel.sends.push_back(&transfer);
    match(transfer, *channel.receives.front());
    channel.receives.pop_front();
  }
  void receive(Transfer& transfer, Channel& channel) {
    if (channel.sends.empty()) return channel.receives.push_back(&transfer);
    match(transfer, *channel.sends.front());
    channel.sends.pop_front();
  }
  void match(Transfer& a, Transfer& b) {
    a.begin = b.begin = std::max(a.begin, b.begin);
    come(a);
    come(b);
  }

  /// One more counterpart of a transfer is there.
  void come(Transfer& transfer) {
    if (--transfer.missing == 0) finish(transfer);
  }

  /// Where something else moves the bytes, a rank's transfers one way on one communicator
  /// follow each other; a rank that moves them itself does so when it waits.
  void finish(Transfer& transfer) {
    if (profile_.transfers == cluster::Transfers::beside_compute) take_lanes(transfer);
    transfer.missing = -1;
    Process& process = processes_[static_cast<std::size_t>(transfer.rank)];
    if (process.blocked_on != &transfer) return;
    process.blocked_on = nullptr;
    ready_.push({std::max(process.now, transfer.begin), transfer.rank});
  }

  /// Each communicator has a stream of its own, which takes messages out and in at once.
  void take_lanes(Transfer& transfer) {
    Lanes& lanes = lanes_[{transfer.rank, transfer.event->communicator}];
    if (sends(transfer)) transfer.begin = std::max(transfer.begin, lanes.out);
    if (receives(transfer)) transfer.begin = std::max(transfer.begin, lanes.in);
    transfer.done = transfer.begin + transfer.seconds;
    if (sends(transfer)) lanes.out = transfer.done;
    if (receives(transfer)) lanes.in = transfer.done;
  }

  /// False where the rank is blocked.
  bool wait(Process& process, const TraceEvent& event) {
    const auto at = process.transfers.size() - 1 - static_cast<std::size_t>(event.starts_ago);
    Transfer& transfer = process.transfers[at];
    if (transfer.missing > 0) {
      process.blocked_on = &transfer;
      return false;
    }
    const double begin = std::max(process.now, transfer.begin);
    // Of two ranks the receiver copies: the sender has nothing to do.
    if (profile_.transfers == cluster::Transfers::by_the_rank)
      transfer.done = (receives(transfer) ? begin : transfer.begin) + transfer.seconds;
    add(process.time.waiting, event.group, begin - process.now);
    add(process.time.transfer, event.group, std::max(0.0, transfer.done - begin));
    process.now = std::max(begin, transfer.done);
    return true;
  }

  static bool sends(const Transfer& transfer) {
    const auto& routes = transfer.event->routes;
    return routes.empty() ||
           std::ranges::any_of(routes, [](const auto& route) { return route.sent.count > 0; });
  }
  static bool receives(const Transfer& transfer) {
    const auto& routes = transfer.event->routes;
    return routes.empty() ||
           std::ranges::any_of(routes, [](const auto& route) { return route.received.count > 0; });
  }

  const HardwareProfile& profile_;
  const SimulationSettings& settings_;
  std::vector<Process> processes_;
  std::vector<std::vector<double>> seconds_;  // by rank and number of the distinct event
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready_;
  std::vector<double> cores_free_;
  std::map<std::pair<int, int>, Lanes> lanes_;             // rank, communicator
  std::map<std::tuple<int, int, int>, Channel> channels_;  // group, sender, receiver
  std::map<std::pair<int, int>, int> turns_;               // group, rank -> collectives so far
  std::map<std::pair<int, int>, Meeting> meetings_;        // group, turn
};

}  // namespace

std::vector<SimulatedTime> simulate(const std::vector<SimulatedRank>& ranks,
                                    const HardwareProfile& profile,
                                    const SimulationSettings& settings) {
  return Simulation(ranks, profile, settings).run();
}

}  // namespace cpplan::plan
