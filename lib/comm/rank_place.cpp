#include "comm/rank_place.hpp"

#include <fmt/format.h>

#include <array>
#include <cstring>
#include <map>

namespace cpplan::comm {
namespace {

constexpr std::size_t longest = 256;  // text is cut there; whole words of the wire
struct Record {
  std::array<char, longest> host{}, bus_id{}, device{}, problem{};
};

void write(const std::string& text, std::array<char, longest>& field) {
  std::memcpy(field.data(), text.data(), std::min(text.size(), longest - 1));
}

Tensor tensor_of(Record* records, Index count) {
  constexpr Index words = sizeof(Record) / sizeof(std::int32_t);
  return {reinterpret_cast<std::byte*>(records), count, words, words, kernels::DType::i32};
}

std::optional<std::string> shared_device(std::span<const RankPlace> places) {
  std::map<std::pair<std::string, std::string>, std::size_t> first_at;
  for (std::size_t rank = 0; rank < places.size(); ++rank) {
    const RankPlace& place = places[rank];
    const auto [first, is_first] = first_at.emplace(std::pair(place.host, place.bus_id), rank);
    if (!is_first)
      return fmt::format(
          "ranks {} and {} share GPU {} of host {} (NCCL takes one rank a GPU). use --transport "
          "mpi, which goes through the host, or start no more ranks there than it has GPUs",
          first->second, rank, place.device, place.host);
  }
  return {};
}

}  // namespace

std::vector<RankPlace> gather_places(Communicator& world, const RankPlace& mine) {
  Record record;
  write(mine.host, record.host), write(mine.bus_id, record.bus_id);
  write(mine.device, record.device), write(mine.problem, record.problem);
  std::vector<Record> records(static_cast<std::size_t>(world.size()));
  world.all_gather(tensor_of(&record, 1), tensor_of(records.data(), world.size())).wait();
  std::vector<RankPlace> places;
  for (const Record& r : records)
    places.push_back({r.host.data(), r.bus_id.data(), r.device.data(), r.problem.data()});
  return places;
}

std::optional<std::string> why_not_nccl(std::span<const RankPlace> places) {
  for (std::size_t rank = 0; rank < places.size(); ++rank)
    if (!places[rank].problem.empty())
      return fmt::format("rank {} on host {} cannot use NCCL: {}", rank, places[rank].host,
                         places[rank].problem);
  return shared_device(places);
}

}  // namespace cpplan::comm
