#include "train/gathered_write.hpp"

#include <chrono>

#include "base/failure.hpp"
#include "checkpoint/slice_writer.hpp"
#include "train/gather.hpp"

namespace cpplan::train {
namespace fs = std::filesystem;
namespace {
using checkpoint::FileSet;
using checkpoint::Piece;
using checkpoint::SliceEntry;

/// A disk that takes less is called gone.
constexpr Index slowest_bytes_per_second = 4 << 20;

void require(const Result<void>& written) {
  if (!written) throw Failure(written.error().message);
}

Index bytes_of(const FileSet& set, const std::string& tensor, const checkpoint::Slice& slice) {
  return valid_elements(slice) * size_of(set.place(tensor).tensor.type).count;
}

std::span<const std::byte> valid_bytes(const FileSet& set, const Piece& piece) {
  const Index count = bytes_of(set, piece.tensor, piece.slice);
  return piece.bytes.first(static_cast<std::size_t>(count));
}

/// What the pieces are of; rank 0 sums their bytes up itself.
std::string list_of(std::span<const Piece> pieces) {
  std::vector<SliceEntry> entries;
  for (const Piece& piece : pieces) entries.push_back({piece.tensor, piece.slice, 0});
  return checkpoint::account_of(entries);
}

void send_to_rank_0(const FileSet& set, const std::string& list, std::span<const Piece> pieces,
                    ByteChannel& channel) {
  channel.send(0, std::as_bytes(std::span(list)));
  for (const Piece& piece : pieces) channel.send(0, valid_bytes(set, piece));
}

std::vector<SliceEntry> receive_list(int from, Index length, ByteChannel& channel) {
  std::string list;
  channel.receive(from, length, [&](std::span<const std::byte> part) {
    list.append(reinterpret_cast<const char*>(part.data()), part.size());
  });
  auto slices = checkpoint::slices_of_account(list);
  expect(slices.has_value(), "a rank lists its slices as all others do");
  return std::move(*slices);
}

void write_of(int rank, Index list_length, const fs::path& temporary, const FileSet& set,
              ByteChannel& channel) {
  checkpoint::SliceWriter writer(temporary, set);
  for (const SliceEntry& entry : receive_list(rank, list_length, channel)) {
    require(writer.begin(entry.tensor, entry.slice));
    channel.receive(rank, bytes_of(set, entry.tensor, entry.slice),
                    [&](std::span<const std::byte> part) { require(writer.write(part)); });
  }
  require(writer.finish(rank));
}

}  // namespace

Seconds longest_wait(const FileSet& set) {
  Bytes all{};
  for (const auto& file : set.files()) all += file.size;
  return std::chrono::minutes(1) + std::chrono::seconds(all.count / slowest_bytes_per_second);
}

void write_gathered(const fs::path& temporary, const FileSet& set, std::span<const Piece> pieces,
                    const Rank& rank, ByteChannel& channel) {
  const std::string list = list_of(pieces);
  const std::vector length = {static_cast<double>(list.size())};
  const auto lengths = gather(length, rank);
  if (rank.number != 0) return send_to_rank_0(set, list, pieces, channel);
  require(checkpoint::write_pieces(temporary, set, 0, pieces));
  for (int other = 1; other < rank.groups.world->size(); ++other)
    write_of(other, static_cast<Index>(lengths[static_cast<std::size_t>(other)]), temporary, set,
             channel);
}

}  // namespace cpplan::train
