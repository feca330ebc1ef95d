#include "comm/meta.hpp"

namespace cpplan::comm {
namespace {

struct Nothing final : Work::Pending {
  void wait() override {}
};

class MetaCommunicator final : public Communicator {
 public:
  using Communicator::Communicator;

 private:
  std::unique_ptr<Work::Pending> start(const Transfer&) override {
    return std::make_unique<Nothing>();
  }
  void copy(const Tensor&, const Tensor&) override {}
};

}  // namespace

std::unique_ptr<Communicator> make_meta_communicator(std::string_view group, int rank, int size,
                                                     kernels::Trace& trace) {
  return std::make_unique<MetaCommunicator>(group, rank, size, trace);
}

}  // namespace cpplan::comm
