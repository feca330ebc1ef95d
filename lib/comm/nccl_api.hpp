#pragma once
// NCCL as the transport calls it: a table of functions, filled by the plug-in that links the
// library or by the fake of the tests. Names, arguments and values are those of nccl.h (2.28), so
// that what holds of them is in NCCL's own manual. Communicators are made non-blocking: a call may
// return in_progress, and async_error() then tells when it is through.
#include <array>
#include <cstddef>

namespace cpplan::comm {

struct NcclApi {
  struct Comm;
  struct UniqueId {
    std::array<char, 128> internal{};
  };
  enum class Result : int {
    success = 0,
    unhandled_cuda_error = 1,
    system_error = 2,
    internal_error = 3,
    invalid_argument = 4,
    invalid_usage = 5,
    remote_error = 6,
    in_progress = 7
  };
  enum class Type : int { i32 = 2, f32 = 7, f64 = 8, bf16 = 9 };
  enum class Op : int { sum = 0, max = 2 };

  const char* (*error_string)(Result) = nullptr;
  const char* (*last_error)(Comm*) = nullptr;

  Result (*get_unique_id)(UniqueId*) = nullptr;
  Result (*init_rank)(Comm**, int size, const UniqueId*, int rank) = nullptr;
  Result (*async_error)(Comm*, Result*) = nullptr;
  Result (*finalize)(Comm*) = nullptr;
  Result (*destroy)(Comm*) = nullptr;
  Result (*abort)(Comm*) = nullptr;

  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*send)(const void*, std::size_t count, Type, int peer, Comm*, void* stream) = nullptr;
  Result (*receive)(void*, std::size_t count, Type, int peer, Comm*, void* stream) = nullptr;
  /// `count` is of what one rank sends; of what one rank receives; of the whole.
  Result (*all_gather)(const void*, void*, std::size_t count, Type, Comm*, void* stream) = nullptr;
  Result (*reduce_scatter)(const void*, void*, std::size_t count, Type, Op, Comm*,
                           void* stream) = nullptr;
  Result (*all_reduce)(const void*, void*, std::size_t count, Type, Op, Comm*,
                       void* stream) = nullptr;
};

/// What the plug-in gives the program that opens it. The two are built of one source; the version
/// tells a library of another build.
struct NcclPlugin {
  const char* cpplan_version = nullptr;
  int nccl_version = 0;  // 22809 is 2.28.9
  NcclApi api;
};

inline constexpr const char *nccl_plugin_file = "libcpplan_nccl.so",
                            *nccl_plugin_entry = "cpplan_nccl_plugin";
using NcclPluginEntry = const NcclPlugin* (*)();

}  // namespace cpplan::comm
