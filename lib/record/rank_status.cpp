#include "record/rank_status.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cstring>

#include "base/contract.hpp"
#include "base/files.hpp"

namespace cpplan::record {
namespace {

template <std::size_t size>
using Text = std::array<char, size>;

/// The file, byte for byte. `updates` is odd while the rest is being changed.
struct Entry {
  std::uint64_t updates = 0;
  std::int64_t rank = 0, pid = 0, start_ticks = 0, step = 0;
  double since = 0, limit_seconds = 0;
  RankState state = RankState::starting;
  Text<20> group{};
  Text<64> operation{};
  Text<64> host{};
  Text<800> last_words{};
};
static_assert(std::is_trivially_copyable_v<Entry>);

template <std::size_t size>
void put(Text<size>& to, std::string_view from) {
  const std::size_t length = std::min(from.size(), size - 1);
  std::copy_n(from.data(), length, to.data());
  std::fill(to.begin() + static_cast<std::ptrdiff_t>(length), to.end(), '\0');
}

template <std::size_t size>
std::string get(const Text<size>& from) {
  return {from.data(), strnlen(from.data(), size)};
}

double now() {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration<double>(since_epoch).count();
}

std::string host_name() {
  Text<64> name{};
  gethostname(name.data(), name.size() - 1);
  return get(name);
}

/// Not yet published: no updates.
Entry first_entry(int rank) {
  Entry e;
  e.rank = rank;
  e.pid = getpid();
  e.start_ticks = process_start_ticks(getpid()).value_or(0);
  put(e.host, host_name());
  put(e.operation, before_start);
  e.since = now();
  return e;
}

tl::unexpected<Error> cannot(std::string_view what, const std::filesystem::path& path) {
  return failure(fmt::format("cannot {} {} ({})", what, path.string(), std::strerror(errno)));
}

/// A copy from between two changes. That of a rank which died in the middle of one stays as it is.
Entry consistent_copy(Entry& shared) {
  constexpr int attempts = 10'000;  // of some 50 ns
  const std::atomic_ref updates(shared.updates);
  Entry copy;
  for (int i = 0; i < attempts; ++i) {
    const std::uint64_t before = updates.load(std::memory_order_acquire);
    std::memcpy(&copy, &shared, sizeof copy);
    std::atomic_thread_fence(std::memory_order_acquire);
    copy.updates = before;
    if (before % 2 == 0 && updates.load(std::memory_order_relaxed) == before) break;
  }
  return copy;
}

RankStatus decoded(const Entry& e) {
  return {.rank = static_cast<int>(e.rank),
          .pid = static_cast<int>(e.pid),
          .start_ticks = e.start_ticks,
          .host = get(e.host),
          .state = e.state,
          .step = e.step,
          .group = get(e.group),
          .operation = get(e.operation),
          .since = e.since,
          .limit_seconds = e.limit_seconds,
          .last_words = get(e.last_words),
          .updates = static_cast<Index>(e.updates)};
}

}  // namespace

std::string_view name_of(RankState state) {
  switch (state) {
    case RankState::starting:
      return "starting";
    case RankState::computing:
      return "computing";
    case RankState::waiting:
      return "waiting";
    case RankState::finished:
      return "finished";
    case RankState::failed:
      return "failed";
    case RankState::checkpointed:
      return "checkpointed";
  }
  return "";
}

struct StatusFile::Mapping {
  Entry* entry = nullptr;
  std::mutex mutex;

  static std::unique_ptr<Mapping> of(void* memory, int rank) {
    auto mapping = std::make_unique<Mapping>();
    mapping->entry = new (memory) Entry(first_entry(rank));
    // Published last: a launcher that looks now sees all of it or nothing.
    std::atomic_ref(mapping->entry->updates).store(2, std::memory_order_release);
    return mapping;
  }
  ~Mapping() {
    if (entry) munmap(entry, sizeof(Entry));
  }

  /// Readers see the entry before or after the change, or that they should look again.
  template <class Change>
  void update(Change&& change) {
    const std::scoped_lock lock(mutex);
    const std::atomic_ref updates(entry->updates);
    const std::uint64_t before = updates.load(std::memory_order_relaxed);
    updates.store(before + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    change(*entry);
    updates.store(before + 2, std::memory_order_release);
  }

  void enter(RankState state, std::string_view group, std::string_view operation) {
    update([&](Entry& e) {
      if (e.state == RankState::failed) return;
      e.state = state;
      put(e.group, group);
      put(e.operation, operation);
      e.since = now();
    });
  }
};

StatusFile::StatusFile(std::unique_ptr<Mapping> mapping) : mapping_(std::move(mapping)) {}
StatusFile::StatusFile(StatusFile&&) noexcept = default;
StatusFile& StatusFile::operator=(StatusFile&&) noexcept = default;
StatusFile::~StatusFile() = default;

Result<StatusFile> StatusFile::create(const std::filesystem::path& path, int rank) {
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return cannot("create", path);
  void* memory = MAP_FAILED;
  if (ftruncate(file, sizeof(Entry)) == 0)
    memory = mmap(nullptr, sizeof(Entry), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED) return cannot("map", path);
  return StatusFile(Mapping::of(memory, rank));
}

StatusFile StatusFile::in_memory(int rank) {
  void* memory =
      mmap(nullptr, sizeof(Entry), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  expect(memory != MAP_FAILED, "there is a page of memory");
  return StatusFile(Mapping::of(memory, rank));
}

RankStatus StatusFile::read() const {
  return decoded(consistent_copy(*mapping_->entry));
}

void StatusFile::begin_step(Index step, std::chrono::duration<double> limit) {
  mapping_->update([&](Entry& e) {
    e.step = step;
    e.limit_seconds = limit.count();
  });
  computing("step");
}

void StatusFile::computing(std::string_view operation) {
  mapping_->enter(RankState::computing, "", operation);
}

void StatusFile::waiting(std::string_view group, std::string_view operation) {
  mapping_->enter(RankState::waiting, group, operation);
}

void StatusFile::checkpointed() {
  mapping_->enter(RankState::checkpointed, "", "end");
}

void StatusFile::finished() {
  mapping_->enter(RankState::finished, "", "end");
}

void StatusFile::failed(std::string_view last_words) {
  mapping_->update([&](Entry& e) {
    if (e.state == RankState::failed) return;
    e.state = RankState::failed;
    put(e.last_words, last_words);
  });
}

void StatusFile::crashed(std::string_view last_words) {
  Entry& e = *mapping_->entry;
  if (e.last_words[0] == '\0') put(e.last_words, last_words);
}

Result<RankStatus> read_rank_status(const std::filesystem::path& path) {
  const int file = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return cannot("read", path);
  struct stat info {};
  void* memory = MAP_FAILED;
  if (fstat(file, &info) == 0 && info.st_size == sizeof(Entry))
    memory = mmap(nullptr, sizeof(Entry), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (memory == MAP_FAILED)
    return failure(fmt::format("{} has no entry yet (its rank is starting)", path.string()));
  const Entry entry = consistent_copy(*static_cast<Entry*>(memory));
  munmap(memory, sizeof(Entry));
  if (entry.updates == 0)
    return failure(fmt::format("{} has no entry yet (its rank is starting)", path.string()));
  return decoded(entry);
}

Result<Index> process_start_ticks(int pid) {
  const auto stat = read_file(fmt::format("/proc/{}/stat", pid));
  if (!stat) return tl::unexpected(stat.error());
  // The name stands in parentheses and may hold anything; field 3 follows the last one.
  std::string_view rest = std::string_view(*stat).substr(stat->rfind(')') + 1);
  for (int field = 2; field < 22; ++field) rest.remove_prefix(rest.find(' ') + 1);
  Index ticks = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), ticks);
  return ticks;
}

}  // namespace cpplan::record
