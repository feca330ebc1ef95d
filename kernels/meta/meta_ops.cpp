#include "kernels/meta/meta_ops.hpp"

namespace cpplan::kernels {
namespace {

/// Base with a run() that does nothing for each op of a list.
template <class Base, class List>
class Ignores;

template <class Base>
class Ignores<Base, RunsAll<>> : public Base {
 public:
  using Base::Base;
  using Base::run;
};

template <class Base, class Op, class... Rest>
class Ignores<Base, RunsAll<Op, Rest...>> : public Ignores<Base, RunsAll<Rest...>> {
 public:
  using Ignores<Base, RunsAll<Rest...>>::Ignores;
  using Ignores<Base, RunsAll<Rest...>>::run;
  void run(const Op&) override {}
};

class MetaOps final : public Ignores<Ops, AllOps> {
 public:
  using Ignores::Ignores;

  std::byte* allocate(Bytes bytes) override {
    auto* const block = reinterpret_cast<std::byte*>(next_);
    next_ += round_up(bytes.count, page) + page;
    return block;
  }

 private:
  static constexpr Index page = 4096;  // also the gap between blocks, so that none touch

  Index next_ = Index{1} << 46;  // above any address the host hands out in practice
};

}  // namespace

std::unique_ptr<Ops> make_meta_ops(Trace& trace) {
  return std::make_unique<MetaOps>(trace);
}

}  // namespace cpplan::kernels
