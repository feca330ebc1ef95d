#include "comm/mpi.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>

#include "base/failure.hpp"
#include "comm/point_to_point.hpp"

namespace cpplan::comm {
namespace {

std::string text_of(int error) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(error, text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

void check_mpi(int error, std::string_view call) {
  if (error != MPI_SUCCESS) throw Failure(fmt::format("{} failed ({})", call, text_of(error)));
}

/// The pieces of one message. Those of a receive that is destroyed early are called off.
class MpiRequest final : public Request {
 public:
  enum class Way { send, receive };

  MpiRequest(Way way, MPI_Comm comm, int peer, int tag, std::span<std::byte> bytes, Bytes largest)
      : way_(way) {
    while (!bytes.empty()) {
      const auto piece =
          bytes.first(std::min(bytes.size(), static_cast<std::size_t>(largest.count)));
      post(comm, peer, tag, piece);
      bytes = bytes.subspan(piece.size());
    }
  }

  ~MpiRequest() override {
    for (MPI_Request& request : requests_) {
      if (request == MPI_REQUEST_NULL) continue;
      if (way_ == Way::receive) MPI_Cancel(&request);
      MPI_Request_free(&request);
    }
  }

  MpiRequest(const MpiRequest&) = delete;
  MpiRequest& operator=(const MpiRequest&) = delete;

  bool done() override {
    const int count = static_cast<int>(requests_.size());
    int all = 0;
    check_statuses(MPI_Testall(count, requests_.data(), &all, statuses_.data()));
    if (all && way_ == Way::receive) expect_sizes();
    return all != 0;
  }

 private:
  void post(MPI_Comm comm, int peer, int tag, std::span<std::byte> piece) {
    const int count = static_cast<int>(piece.size());
    MPI_Request request = MPI_REQUEST_NULL;
    if (way_ == Way::send)
      check_mpi(MPI_Isend(piece.data(), count, MPI_BYTE, peer, tag, comm, &request), "MPI_Isend");
    else
      check_mpi(MPI_Irecv(piece.data(), count, MPI_BYTE, peer, tag, comm, &request), "MPI_Irecv");
    requests_.push_back(request);
    statuses_.emplace_back();
    sizes_.push_back(count);
  }

  void check_statuses(int error) const {
    if (error == MPI_ERR_IN_STATUS)
      for (const MPI_Status& status : statuses_)
        if (status.MPI_ERROR != MPI_ERR_PENDING) check_mpi(status.MPI_ERROR, "MPI_Testall");
    check_mpi(error, "MPI_Testall");
  }

  void expect_sizes() const {
    for (std::size_t i = 0; i < statuses_.size(); ++i) {
      int count = 0;
      MPI_Get_count(&statuses_[i], MPI_BYTE, &count);
      expect(count == sizes_[i], "both ends of a message have the same size");
    }
  }

  Way way_;
  std::vector<MPI_Request> requests_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> sizes_;
};

class MpiChannel final : public Channel {
 public:
  MpiChannel(MPI_Comm comm, Bytes largest_message) : comm_(comm), largest_(largest_message) {}

  std::unique_ptr<Request> send(int peer, int tag, std::span<const std::byte> bytes) override {
    // MPI_Isend takes const; the request keeps one kind of span for both ways.
    const std::span<std::byte> writable(const_cast<std::byte*>(bytes.data()), bytes.size());
    return std::make_unique<MpiRequest>(MpiRequest::Way::send, comm_, peer, tag, writable,
                                        largest_);
  }

  std::unique_ptr<Request> receive(int peer, int tag, std::span<std::byte> bytes) override {
    return std::make_unique<MpiRequest>(MpiRequest::Way::receive, comm_, peer, tag, bytes,
                                        largest_);
  }

 private:
  MPI_Comm comm_;
  Bytes largest_;
};

bool is_through(MPI_Request& request) {
  int done = 0;
  check_mpi(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

/// Bitwise or of every rank's bits, polled like any other wait.
class BitwiseOr final : public Ongoing {
 public:
  explicit BitwiseOr(std::array<std::uint64_t, 2> mine) : mine_(mine) {
    check_mpi(MPI_Iallreduce(mine_.data(), all_.data(), 2, MPI_UINT64_T, MPI_BOR, MPI_COMM_WORLD,
                             &request_),
              "MPI_Iallreduce");
  }

  bool advance() override { return is_through(request_); }
  Awaited awaited() const override { return {"a rank", "agreement of all ranks on the plan"}; }
  const std::array<std::uint64_t, 2>& all() const { return all_; }

 private:
  std::array<std::uint64_t, 2> mine_, all_{};
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// One value of every rank.
class GatherCounts final : public Ongoing {
 public:
  GatherCounts(int mine, int world) : mine_(mine), all_(static_cast<std::size_t>(world)) {
    check_mpi(
        MPI_Iallgather(&mine_, 1, MPI_INT, all_.data(), 1, MPI_INT, MPI_COMM_WORLD, &request_),
        "MPI_Iallgather");
  }
  bool advance() override { return is_through(request_); }
  Awaited awaited() const override { return {"a rank", "gathering of lengths"}; }
  const std::vector<int>& all() const { return all_; }

 private:
  int mine_;
  std::vector<int> all_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// Texts of every rank, one behind the other.
class GatherTexts final : public Ongoing {
 public:
  GatherTexts(const std::string& mine, const std::vector<int>& lengths)
      : mine_(mine), lengths_(lengths) {
    int length = 0;
    for (const int of_rank : lengths_) starts_.push_back(std::exchange(length, length + of_rank));
    all_.resize(static_cast<std::size_t>(length));
    check_mpi(MPI_Iallgatherv(mine_.data(), static_cast<int>(mine_.size()), MPI_CHAR, all_.data(),
                              lengths_.data(), starts_.data(), MPI_CHAR, MPI_COMM_WORLD, &request_),
              "MPI_Iallgatherv");
  }
  bool advance() override { return is_through(request_); }
  Awaited awaited() const override { return {"a rank", "gathering of texts"}; }

  std::vector<std::string> texts() const {
    std::vector<std::string> result;
    for (std::size_t rank = 0; rank < lengths_.size(); ++rank)
      result.push_back(all_.substr(static_cast<std::size_t>(starts_[rank]),
                                   static_cast<std::size_t>(lengths_[rank])));
    return result;
  }

 private:
  std::string mine_, all_;
  std::vector<int> lengths_, starts_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace

struct MpiWorld::State {
  State(Watchdog& dog, const MpiSettings& given)
      : watchdog(dog), settings(given), endpoint(given.deadline) {}

  void init() {
    const auto watch = watchdog.watch("MPI_Init", settings.deadline);
    int provided = MPI_THREAD_SINGLE;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided), "MPI_Init_thread");
    if (provided < MPI_THREAD_FUNNELED)
      throw Failure("MPI_Init_thread failed (this MPI has no MPI_THREAD_FUNNELED)");
    check_mpi(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN),
              "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    find_host();
  }

  void find_host() {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    check_mpi(MPI_Get_processor_name(name.data(), &length), "MPI_Get_processor_name");
    host_name.assign(name.data(), static_cast<std::size_t>(length));
    MPI_Comm host = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &host),
              "MPI_Comm_split_type");
    check_mpi(MPI_Comm_rank(host, &local_rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_free(&host), "MPI_Comm_free");
  }

  /// Lives until MPI_Finalize.
  MPI_Comm split(int color, int key) {
    const auto watch = watchdog.watch("MPI_Comm_split", settings.deadline);
    MPI_Comm comm = MPI_COMM_NULL;
    check_mpi(MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm), "MPI_Comm_split");
    check_mpi(MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    return comm;
  }

  Watchdog& watchdog;
  MpiSettings settings;
  Endpoint endpoint;
  int rank = 0, size = 1, local_rank = 0;
  std::string host_name;
};

MpiWorld::MpiWorld(Watchdog& watchdog, const MpiSettings& settings)
    : state_(std::make_unique<State>(watchdog, settings)) {
  expect(settings.largest_message > Bytes{0} && settings.largest_message <= Bytes{1 << 30},
         "a piece of a message fits an int");
  state_->init();
}

MpiWorld::~MpiWorld() {
  if (std::uncaught_exceptions() > 0) abort(Watchdog::exit_code);
  const auto watch = state_->watchdog.watch("MPI_Finalize", state_->settings.deadline);
  MPI_Finalize();
}

int MpiWorld::rank() const {
  return state_->rank;
}
int MpiWorld::size() const {
  return state_->size;
}
int MpiWorld::local_rank() const {
  return state_->local_rank;
}
const std::string& MpiWorld::host_name() const {
  return state_->host_name;
}
Endpoint& MpiWorld::endpoint() {
  return state_->endpoint;
}

/// A bit that is 0 on one rank and 1 on another is set in both sums.
bool MpiWorld::agree(std::uint64_t hash) {
  BitwiseOr bits({hash, ~hash});
  state_->endpoint.wait_for(bits);
  return (bits.all()[0] & bits.all()[1]) == 0;
}

std::vector<std::string> MpiWorld::gather(const std::string& mine) {
  GatherCounts lengths(static_cast<int>(mine.size()), state_->size);
  state_->endpoint.wait_for(lengths);
  GatherTexts texts(mine, lengths.all());
  state_->endpoint.wait_for(texts);
  return texts.texts();
}

void MpiWorld::abort(int exit_code) {
  exit_within(std::chrono::seconds(2), exit_code);
  MPI_Abort(MPI_COMM_WORLD, exit_code);
  _exit(exit_code);
}

std::unique_ptr<Communicator> make_mpi_communicator(MpiWorld& world, std::string_view group,
                                                    std::vector<int> members, int rank,
                                                    kernels::Trace& trace) {
  expect(members[static_cast<std::size_t>(rank)] == world.rank(), "the group has this rank");
  MpiWorld::State& state = *world.state_;
  auto channel = std::make_unique<MpiChannel>(state.split(members.front(), rank),
                                              state.settings.largest_message);
  return std::make_unique<PointToPoint>(state.endpoint, std::move(channel), group,
                                        std::move(members), rank, trace);
}

}  // namespace cpplan::comm
