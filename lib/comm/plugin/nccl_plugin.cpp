// libcpplan_nccl.so: the table of nccl_api.hpp on the library itself. Opened at run time, so that
// the program starts where there is no NCCL.
#include <nccl.h>

#include <cstring>
#include <string_view>

#include "comm/nccl_api.hpp"

namespace cpplan::comm {
namespace {
using Comm = NcclApi::Comm;
using Result = NcclApi::Result;
using Type = NcclApi::Type;
using Op = NcclApi::Op;

static_assert(sizeof(ncclUniqueId) == sizeof(NcclApi::UniqueId));
static_assert(int{ncclInProgress} == static_cast<int>(Result::in_progress));
static_assert(int{ncclRemoteError} == static_cast<int>(Result::remote_error));
static_assert(int{ncclInt32} == static_cast<int>(Type::i32));
static_assert(int{ncclFloat32} == static_cast<int>(Type::f32));
static_assert(int{ncclFloat64} == static_cast<int>(Type::f64));
static_assert(int{ncclBfloat16} == static_cast<int>(Type::bf16));
static_assert(int{ncclSum} == static_cast<int>(Op::sum));
static_assert(int{ncclMax} == static_cast<int>(Op::max));

Result ours(ncclResult_t result) {
  return static_cast<Result>(result);
}
ncclComm_t theirs(Comm* comm) {
  return reinterpret_cast<ncclComm_t>(comm);
}
ncclDataType_t theirs(Type type) {
  return static_cast<ncclDataType_t>(type);
}
ncclRedOp_t theirs(Op op) {
  return static_cast<ncclRedOp_t>(op);
}
cudaStream_t stream_of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

Result get_unique_id(NcclApi::UniqueId* id) {
  ncclUniqueId made;
  const Result result = ours(ncclGetUniqueId(&made));
  std::memcpy(id->internal.data(), made.internal, sizeof made);
  return result;
}

/// Non-blocking: no call of the host then waits for a peer.
Result init_rank(Comm** comm, int size, const NcclApi::UniqueId* id, int rank) {
  ncclUniqueId given;
  std::memcpy(given.internal, id->internal.data(), sizeof given);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t made = nullptr;
  const Result result = ours(ncclCommInitRankConfig(&made, size, given, rank, &config));
  *comm = reinterpret_cast<Comm*>(made);
  return result;
}

Result async_error(Comm* comm, Result* state) {
  ncclResult_t found = ncclSuccess;
  const Result result = ours(ncclCommGetAsyncError(theirs(comm), &found));
  *state = ours(found);
  return result;
}

constexpr NcclApi api{
    .error_string =
        [](Result result) { return ncclGetErrorString(static_cast<ncclResult_t>(result)); },
    .last_error = [](Comm* comm) { return ncclGetLastError(theirs(comm)); },
    .get_unique_id = get_unique_id,
    .init_rank = init_rank,
    .async_error = async_error,
    .finalize = [](Comm* comm) { return ours(ncclCommFinalize(theirs(comm))); },
    .destroy = [](Comm* comm) { return ours(ncclCommDestroy(theirs(comm))); },
    .abort = [](Comm* comm) { return ours(ncclCommAbort(theirs(comm))); },
    .group_start = [] { return ours(ncclGroupStart()); },
    .group_end = [] { return ours(ncclGroupEnd()); },
    .send =
        [](const void* in, std::size_t count, Type type, int peer, Comm* comm, void* stream) {
          return ours(ncclSend(in, count, theirs(type), peer, theirs(comm), stream_of(stream)));
        },
    .receive =
        [](void* out, std::size_t count, Type type, int peer, Comm* comm, void* stream) {
          return ours(ncclRecv(out, count, theirs(type), peer, theirs(comm), stream_of(stream)));
        },
    .all_gather =
        [](const void* in, void* out, std::size_t count, Type type, Comm* comm, void* stream) {
          return ours(ncclAllGather(in, out, count, theirs(type), theirs(comm), stream_of(stream)));
        },
    .reduce_scatter =
        [](const void* in, void* out, std::size_t count, Type type, Op op, Comm* comm,
           void* stream) {
          return ours(ncclReduceScatter(in, out, count, theirs(type), theirs(op), theirs(comm),
                                        stream_of(stream)));
        },
    .all_reduce =
        [](const void* in, void* out, std::size_t count, Type type, Op op, Comm* comm,
           void* stream) {
          return ours(ncclAllReduce(in, out, count, theirs(type), theirs(op), theirs(comm),
                                    stream_of(stream)));
        }};

}  // namespace

/// The library that was loaded may be newer than the header.
const NcclPlugin* plugin() {
  static const NcclPlugin table = [] {
    int version = 0;
    ncclGetVersion(&version);
    return NcclPlugin{CPPLAN_VERSION, version, api};
  }();
  return &table;
}

}  // namespace cpplan::comm

extern "C" __attribute__((visibility("default"))) const cpplan::comm::NcclPlugin*
cpplan_nccl_plugin() {
  return cpplan::comm::plugin();
}
