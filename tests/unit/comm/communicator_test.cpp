// What a transfer must look like, what it costs and what the trace hears, on groups of paper.
#include "comm/communicator.hpp"

#include <doctest/doctest.h>

#include "child.hpp"
#include "comm/meta.hpp"
#include "recorder.hpp"

namespace cpplan::comm::test {
namespace {

Tensor on_paper(Index rows, Index cols, kernels::DType dtype = kernels::DType::f32) {
  return {nullptr, rows, cols, cols, dtype};
}

/// The exit code of `body` with rank 1 of a group of 3 on paper.
int ending_of(const std::function<void(Communicator&)>& body) {
  return run_in_child([&] {
           kernels::NoTrace trace;
           body(*make_meta_communicator("tp", 1, 3, trace));
         })
      .exit_code;
}

TEST_CASE("sent_bytes: a ring gather or scatter passes on size - 1 shards") {
  const Transfer gather{Collective::all_gather, on_paper(5, 7), on_paper(20, 7), {}};
  const Transfer scatter{Collective::reduce_scatter, on_paper(20, 7), on_paper(5, 7), {}};
  for (int rank = 0; rank < 4; ++rank) {
    CHECK(sent_bytes(gather, rank, 4) == Bytes{3 * 5 * 7 * 4});
    CHECK(sent_bytes(scatter, rank, 4) == Bytes{3 * 5 * 7 * 4});
  }
}

TEST_CASE("sent_bytes: an all-reduce of 10 elements over 4 ranks by hand") {
  // Chunks of 2, 3, 2 and 3; rank r keeps back chunk r in the first half, chunk r + 1 in the
  // second.
  const Tensor t = on_paper(2, 5, kernels::DType::f64);
  const Transfer reduce{Collective::all_reduce, t, t, {}};
  const Index elements[] = {20 - 2 - 3, 20 - 3 - 2, 20 - 2 - 3, 20 - 3 - 2};
  for (int rank = 0; rank < 4; ++rank)
    CHECK(sent_bytes(reduce, rank, 4) == Bytes{8 * elements[rank]});
}

TEST_CASE("sent_bytes: all ranks of an all-reduce together pass on 2 (size - 1) tensors") {
  for (const int size : {1, 2, 3, 5, 8})
    for (const Index elements : {0, 1, 3, 17}) {
      const Tensor t = on_paper(1, elements);
      Bytes sum;
      for (int rank = 0; rank < size; ++rank)
        sum += sent_bytes({Collective::all_reduce, t, t, {}}, rank, size);
      CHECK(sum == Bytes{2 * (size - 1) * elements * 4});
    }
}

TEST_CASE("trace: transfers are numbered and named and waits are told") {
  Recorder trace;
  const auto cp = make_meta_communicator("cp", 2, 4, trace);
  Work first = cp->all_reduce(on_paper(1, 8));
  Work second = cp->all_gather(on_paper(2, 3), on_paper(8, 3));
  second.wait();
  first.wait();
  REQUIRE(trace.starts.size() == 2);
  CHECK(trace.starts[0].id == 0);
  CHECK(trace.starts[0].group == "cp");
  CHECK(trace.starts[0].collective == "all_reduce");
  CHECK(trace.starts[1].id == 1);
  CHECK(trace.starts[1].rank == 2);
  CHECK(trace.starts[1].size == 4);
  CHECK(trace.starts[1].sent == Bytes{3 * 2 * 3 * 4});
  CHECK(trace.waits == std::vector<int>{1, 0});
}

TEST_CASE("trace: an exchange has one route a peer") {
  Recorder trace;
  const auto pp = make_meta_communicator("pp", 0, 3, trace);
  const Message messages[] = {send_to(1, on_paper(1, 2)), receive_from(2, on_paper(1, 3)),
                              receive_from(1, on_paper(1, 5)), send_to(1, on_paper(1, 7))};
  pp->exchange(messages).wait();
  REQUIRE(trace.starts.size() == 1);
  const auto& routes = trace.starts[0].routes;
  REQUIRE(routes.size() == 2);
  CHECK(routes[0].peer == 1);
  CHECK(routes[0].sent == Bytes{9 * 4});
  CHECK(routes[0].received == Bytes{5 * 4});
  CHECK(routes[1].peer == 2);
  CHECK(routes[1].sent == Bytes{});
  CHECK(routes[1].received == Bytes{3 * 4});
  CHECK(trace.starts[0].sent == Bytes{9 * 4});
}

TEST_CASE("group of one on paper: traced with no bytes and nothing is read") {
  Recorder trace;
  const auto tp = make_meta_communicator("tp", 0, 1, trace);
  tp->all_gather(on_paper(4, 2), on_paper(4, 2)).wait();
  tp->reduce_scatter(on_paper(4, 2), on_paper(4, 2)).wait();
  tp->all_reduce(on_paper(4, 2)).wait();
  REQUIRE(trace.starts.size() == 3);
  for (const auto& start : trace.starts) CHECK(start.sent == Bytes{});
  CHECK(trace.waits.size() == 3);
}

TEST_CASE("contracts: shapes and peers that cannot be right end the process") {
  CHECK(ending_of([](Communicator& c) { c.all_gather(on_paper(2, 3), on_paper(6, 3)).wait(); }) ==
        0);
  CHECK(ending_of([](Communicator& c) { c.all_gather(on_paper(2, 3), on_paper(5, 3)).wait(); }) ==
        70);
  CHECK(ending_of([](Communicator& c) { c.all_gather(on_paper(2, 3), on_paper(6, 4)).wait(); }) ==
        70);
  CHECK(ending_of([](Communicator& c) {
          c.reduce_scatter(on_paper(6, 3), on_paper(2, 3, kernels::DType::f64)).wait();
        }) == 70);
  CHECK(ending_of([](Communicator& c) { c.all_reduce({nullptr, 2, 3, 4}).wait(); }) == 70);
  for (const int peer : {-1, 1, 3})
    CHECK(ending_of([peer](Communicator& c) {
            const Message to[] = {send_to(peer, on_paper(1, 1))};
            c.exchange(to).wait();
          }) == 70);
}

TEST_CASE("contracts: dropping a transfer that was not waited for ends the process") {
  const auto dropped = run_in_child([] {
    kernels::NoTrace trace;
    const auto tp = make_meta_communicator("tp", 0, 2, trace);
    { const Work work = tp->all_reduce(on_paper(1, 4)); }
  });
  CHECK(dropped.exit_code == 70);
  CHECK(dropped.errors.find("waited for before its buffers go") != std::string::npos);
}

TEST_CASE("contracts: a transfer may be dropped while an exception passes") {
  kernels::NoTrace trace;
  const auto tp = make_meta_communicator("tp", 0, 2, trace);
  const auto drop = [&] {
    const Work work = tp->all_reduce(on_paper(1, 4));
    throw std::runtime_error("the step fails");
  };
  CHECK_THROWS(drop());
}

}  // namespace
}  // namespace cpplan::comm::test
