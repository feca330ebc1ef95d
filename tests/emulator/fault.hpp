#pragma once
// An access that the hardware refuses, in a kernel: the thread that made it stops its launch and
// says where it reached; elsewhere in the process it is reported and fatal.

namespace cpplan::emulator {

/// From now on, on this thread of the host as well.
void catch_faults();

}  // namespace cpplan::emulator
