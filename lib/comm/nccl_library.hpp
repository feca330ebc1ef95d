#pragma once
// The NCCL plug-in, opened when it is first asked for.
#include "base/result.hpp"
#include "comm/nccl_api.hpp"

namespace cpplan::comm {

/// Error: it is not there, what it needs is not on this machine, or it is of another version.
Result<const NcclPlugin*> nccl_library();

/// "2.28.9" of 22809.
std::string nccl_version_text(int version);

}  // namespace cpplan::comm
