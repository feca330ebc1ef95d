#include "kernels/cuda/staging.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

namespace cpplan::kernels::cuda {
namespace {

std::size_t size(Index bytes) {
  return static_cast<std::size_t>(bytes);
}

}  // namespace

Staging::Piece& Staging::next() {
  Piece& piece = pieces_[turn_++ % pieces_.size()];
  piece.travelled.synchronize();
  return piece;
}

void Staging::upload(void* device, const void* from, Bytes bytes, const Stream& stream) {
  for (Index at = 0; at < bytes.count; at += piece_bytes.count) {
    const Bytes part{std::min(piece_bytes.count, bytes.count - at)};
    Piece& piece = next();
    std::memcpy(piece.memory.data(), static_cast<const std::byte*>(from) + at, size(part.count));
    copy_to_device(static_cast<std::byte*>(device) + at, piece.memory.data(), part, stream);
    piece.travelled.record(stream);
  }
}

void Staging::download(void* to, const void* device, Bytes bytes, const Stream& stream) {
  struct Arriving {
    Piece* piece;
    Index at;
    Bytes part;
  };
  const auto unload = [to](const Arriving& a) {
    a.piece->travelled.synchronize();
    std::memcpy(static_cast<std::byte*>(to) + a.at, a.piece->memory.data(), size(a.part.count));
  };
  std::optional<Arriving> before;
  for (Index at = 0; at < bytes.count; at += piece_bytes.count) {
    const Arriving arriving{&next(), at, {std::min(piece_bytes.count, bytes.count - at)}};
    copy_to_host(arriving.piece->memory.data(), static_cast<const std::byte*>(device) + at,
                 arriving.part, stream);
    arriving.piece->travelled.record(stream);
    if (before) unload(*before);
    before = arriving;
  }
  if (before) unload(*before);
}

}  // namespace cpplan::kernels::cuda
