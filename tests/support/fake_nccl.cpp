#include "support/fake_nccl.hpp"

#include <cstring>
#include <memory>

#include "support/fake_clique.hpp"
#include "support/host_device.hpp"

namespace cpplan::test {
namespace {
using Result = NcclApi::Result;
using Type = NcclApi::Type;
using Op = NcclApi::Op;
using Kind = FakeCall::Kind;

/// A communicator at one rank.
struct State {
  std::shared_ptr<FakeClique> clique;
  int rank = 0;
  std::mutex mutex;
  Result error = Result::success;
  bool initialised = false, finalizing = false, aborted = false;
  int polls_left = 2;            // before what was begun is through
  std::vector<FakeCall> called;  // by the last group, on its way to `stream`
  HostStream* stream = nullptr;
  long turns = 0, on_stream = 0;  // collectives called; groups that have not left their stream
};

/// All that live, and who waits for whom under which id.
struct World {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<FakeClique>> cliques;
  std::map<NcclApi::Comm*, std::shared_ptr<State>> communicators;
  int made = 0;
};

World& world() {
  static World the_world;
  return the_world;
}

std::shared_ptr<State> state_of(NcclApi::Comm* comm) {
  const std::lock_guard lock(world().mutex);
  const auto found = world().communicators.find(comm);
  return found == world().communicators.end() ? nullptr : found->second;
}

/// Calls between group_start() and group_end(), of this thread.
struct Group {
  struct Call {
    NcclApi::Comm* comm;
    HostStream* stream;
    FakeCall call;
  };
  int depth = 0;
  std::vector<Call> calls;
};
thread_local Group group;

Result get_unique_id(NcclApi::UniqueId* id) {
  const std::lock_guard lock(world().mutex);
  const std::string text = "fake " + std::to_string(world().made++);
  id->internal = {};
  std::memcpy(id->internal.data(), text.data(), text.size());
  return Result::success;
}

Result init_rank(NcclApi::Comm** comm, int size, const NcclApi::UniqueId* id, int rank) {
  if (rank < 0 || rank >= size) return Result::invalid_argument;
  const std::lock_guard lock(world().mutex);
  auto& clique = world().cliques[id->internal.data()];
  const int number = std::stoi(std::string(id->internal.data()).substr(5));
  if (!clique) clique = std::make_shared<FakeClique>(number, size);
  if (clique->size() != size) return Result::invalid_argument;
  clique->join(rank);
  const auto state = std::make_shared<State>();
  state->clique = clique, state->rank = rank;
  *comm = reinterpret_cast<NcclApi::Comm*>(state.get());
  world().communicators[*comm] = state;
  return Result::in_progress;
}

/// The groups of a communicator reach its stream in the order of their calls.
void put_on_stream(const std::shared_ptr<State>& state) {
  ++state->on_stream;
  state->stream->enqueue([state, calls = std::move(state->called)] {
    state->clique->execute(state->rank, calls);
    const std::lock_guard lock(state->mutex);
    --state->on_stream;
  });
  state->called.clear();
}

/// Whether what was begun goes on to its end; called with the state locked.
bool can_proceed(State& state) {
  if (!state.initialised) return state.clique->complete();
  if (!state.called.empty()) return state.clique->connected(state.rank, state.called);
  return !state.finalizing || state.on_stream == 0;
}

Result progress(const std::shared_ptr<State>& state) {
  const std::lock_guard lock(state->mutex);
  if (state->error != Result::success) return state->error;
  if (state->clique->aborted_by_another(state->rank)) return Result::remote_error;
  if (!can_proceed(*state) || state->polls_left-- > 0) return Result::in_progress;
  state->polls_left = 0;
  state->initialised = true;
  if (!state->called.empty()) put_on_stream(state);
  return Result::success;
}

Result async_error(NcclApi::Comm* comm, Result* error) {
  const auto state = state_of(comm);
  if (!state) return Result::invalid_argument;
  *error = progress(state);
  return Result::success;
}

Result finalize(NcclApi::Comm* comm) {
  const auto state = state_of(comm);
  const std::lock_guard lock(state->mutex);
  state->finalizing = true;
  state->polls_left = 1;
  return Result::in_progress;
}

void forget(NcclApi::Comm* comm) {
  const std::lock_guard lock(world().mutex);
  world().communicators.erase(comm);
}

Result destroy(NcclApi::Comm* comm) {
  const auto state = state_of(comm);
  if (!state) return Result::invalid_argument;
  {
    const std::lock_guard lock(state->mutex);
    if (!state->finalizing || state->on_stream > 0) return Result::invalid_usage;
  }
  forget(comm);
  return Result::success;
}

Result abort(NcclApi::Comm* comm) {
  const auto state = state_of(comm);
  if (!state) return Result::invalid_argument;
  state->clique->abort(state->rank);
  forget(comm);
  return Result::success;
}

Result group_start() {
  ++group.depth;
  return Result::success;
}

/// A communicator takes the next group when the last is on its stream, and all of a group on one.
Result add_to(State& state, const Group::Call& call) {
  const std::lock_guard lock(state.mutex);
  if (!state.initialised || state.finalizing) return Result::invalid_usage;
  if (!state.called.empty() && state.stream != call.stream) return Result::invalid_usage;
  state.called.push_back(call.call);
  state.stream = call.stream;
  if (call.call.collective()) state.called.back().turn = state.turns++;
  return Result::success;
}

Result begin(const std::vector<Group::Call>& calls) {
  std::set<std::shared_ptr<State>> touched;
  for (const Group::Call& call : calls) {
    const auto state = state_of(call.comm);
    if (!state) return Result::invalid_argument;
    {
      const std::lock_guard lock(state->mutex);
      if (touched.count(state) == 0 && !state->called.empty()) return Result::invalid_usage;
    }
    if (const Result added = add_to(*state, call); added != Result::success) return added;
    touched.insert(state);
  }
  for (const auto& state : touched) {
    const std::lock_guard lock(state->mutex);
    state->polls_left = 2;
    state->clique->announce(state->rank, state->called);
  }
  return touched.empty() ? Result::success : Result::in_progress;
}

Result group_end() {
  if (group.depth == 0) return Result::invalid_usage;
  if (--group.depth > 0) return Result::success;
  const auto calls = std::move(group.calls);
  group.calls.clear();
  return begin(calls);
}

Result call(NcclApi::Comm* comm, void* stream, const FakeCall& what) {
  if (!state_of(comm)) return Result::invalid_argument;
  group_start();
  group.calls.push_back({comm, static_cast<HostStream*>(stream), what});
  return group_end();
}

Result send(const void* in, std::size_t count, Type type, int peer, NcclApi::Comm* comm,
            void* stream) {
  return call(comm, stream,
              {.kind = Kind::send, .in = in, .count = count, .type = type, .peer = peer});
}

Result receive(void* out, std::size_t count, Type type, int peer, NcclApi::Comm* comm,
               void* stream) {
  return call(comm, stream,
              {.kind = Kind::receive, .out = out, .count = count, .type = type, .peer = peer});
}

Result all_gather(const void* in, void* out, std::size_t count, Type type, NcclApi::Comm* comm,
                  void* stream) {
  return call(comm, stream,
              {.kind = Kind::all_gather, .in = in, .out = out, .count = count, .type = type});
}

Result reduce_scatter(const void* in, void* out, std::size_t count, Type type, Op op,
                      NcclApi::Comm* comm, void* stream) {
  return call(
      comm, stream,
      {.kind = Kind::reduce_scatter, .in = in, .out = out, .count = count, .type = type, .op = op});
}

Result all_reduce(const void* in, void* out, std::size_t count, Type type, Op op,
                  NcclApi::Comm* comm, void* stream) {
  return call(
      comm, stream,
      {.kind = Kind::all_reduce, .in = in, .out = out, .count = count, .type = type, .op = op});
}

const char* error_string(Result result) {
  return result == Result::remote_error ? "remote process exited or there was a network error"
                                        : "error of the fake";
}

const char* last_error(NcclApi::Comm*) {
  return "";
}

}  // namespace

const NcclApi& fake_nccl() {
  static const NcclApi api{.error_string = error_string,
                           .last_error = last_error,
                           .get_unique_id = get_unique_id,
                           .init_rank = init_rank,
                           .async_error = async_error,
                           .finalize = finalize,
                           .destroy = destroy,
                           .abort = abort,
                           .group_start = group_start,
                           .group_end = group_end,
                           .send = send,
                           .receive = receive,
                           .all_gather = all_gather,
                           .reduce_scatter = reduce_scatter,
                           .all_reduce = all_reduce};
  return api;
}

std::string standing_still() {
  const std::lock_guard lock(world().mutex);
  std::string text;
  for (const auto& [id, clique] : world().cliques) text += clique->standing_still();
  return text;
}

void break_communicator(NcclApi::Comm* comm, Result error) {
  const auto state = state_of(comm);
  const std::lock_guard lock(state->mutex);
  state->error = error;
}

void break_communicators_of(int rank, Result error) {
  const std::lock_guard lock(world().mutex);
  for (const auto& [comm, state] : world().communicators) {
    const std::lock_guard of_state(state->mutex);
    if (state->rank == rank) state->error = error;
  }
}

}  // namespace cpplan::test
