#pragma once
// Last words of a rank that ends by a bug: a signal of the processor, an abort, an exception that
// nobody catches.
#include "record/rank_status.hpp"

namespace cpplan::train {

/// Catches SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT and unexpected exceptions of the process
/// while it lives. They are noted in `status` (nullptr: nobody watches), written to standard error
/// with the calls that led there, and then end the process as they would have. One at a time.
class CrashWords {
 public:
  CrashWords(int rank, record::StatusFile* status);
  ~CrashWords();
  CrashWords(const CrashWords&) = delete;
  CrashWords& operator=(const CrashWords&) = delete;
};

}  // namespace cpplan::train
