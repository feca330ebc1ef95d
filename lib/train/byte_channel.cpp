#include "train/byte_channel.hpp"

#include <algorithm>
#include <cstring>

namespace cpplan::train {
namespace {

constexpr Index channel_part = 4 << 20;
constexpr Index channel_word = 4;

}  // namespace

ByteChannel::ByteChannel(const Rank& rank)
    : rank_(rank), device_(rank.ops.allocate({channel_part})), host_(channel_part) {}

void ByteChannel::send(int to, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto part = bytes.first(std::min(bytes.size(), host_.size()));
    std::memcpy(host_.data(), part.data(), part.size());
    const auto buffer = words_of(part.size());
    rank_.ops(kernels::Upload{buffer, host_.data()});
    pass(comm::send_to(to, buffer));
    bytes = bytes.subspan(part.size());
  }
}

void ByteChannel::receive(int from, Index bytes,
                          const std::function<void(std::span<const std::byte>)>& take) {
  for (Index left = bytes; left > 0;) {
    const Index count = std::min(left, channel_part);
    const auto buffer = words_of(static_cast<std::size_t>(count));
    pass(comm::receive_from(from, buffer));
    rank_.ops(kernels::Download{buffer, host_.data()});
    take(std::span<const std::byte>(host_).first(static_cast<std::size_t>(count)));
    left -= count;
  }
}

kernels::Tensor ByteChannel::words_of(std::size_t bytes) const {
  const Index words = round_up(static_cast<Index>(bytes), channel_word) / channel_word;
  return {device_, 1, words, words, kernels::DType::i32};
}

void ByteChannel::pass(const comm::Message& message) {
  rank_.groups.world->exchange({&message, 1}).wait();
}

}  // namespace cpplan::train
