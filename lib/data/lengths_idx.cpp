#include <fmt/format.h>

#include <limits>
#include <optional>

#include "base/checked.hpp"
#include "data/binary_view.hpp"
#include "data/length_readers.hpp"

namespace cpplan::data {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view magic = "MMIDIDX\0\0"sv;        // megatron/core/datasets
constexpr std::string_view legacy_magic = "TNTIDX\0\0"sv;  // fairseq's, and Megatron's before

tl::unexpected<Error> malformed(const std::string& name, std::string_view why) {
  return failure(fmt::format(
      "cannot read {} ({}). name the .idx file that Megatron's preprocess_data wrote", name, why));
}

/// Sequences and the documents they make up: document d has the sequences from starts[d] to
/// starts[d + 1].
template <class Size>
struct Sequences {
  NumberArray<Size> sizes;
  NumberArray<std::int64_t> starts;
};

template <class Size>
Result<Length> document_length(const std::string& name, const Sequences<Size>& s, Index document) {
  const std::int64_t from = s.starts[document], to = s.starts[document + 1];
  if (from < 0 || to < from || to > s.sizes.count())
    return malformed(name, fmt::format("document {} has the sequences {} to {} of {}", document,
                                       from, to, s.sizes.count()));
  Index length = 0;
  for (Index i = from; i < to; ++i) {
    const Index size = s.sizes[i];
    const auto sum = checked_add(length, size);
    if (size < 0 || !sum || *sum > std::numeric_limits<Length>::max())
      return malformed(name, fmt::format("sequence {} has {} tokens", i, size));
    length = *sum;
  }
  return static_cast<Length>(length);
}

template <class Size>
Result<Lengths> document_lengths(const std::string& name, const Sequences<Size>& s) {
  Lengths lengths;
  for (Index document = 0; document + 1 < s.starts.count(); ++document) {
    const auto length = document_length(name, s, document);
    if (!length) return tl::unexpected(length.error());
    lengths.push_back(*length);
  }
  return lengths;
}

/// Version, type code, counts; then sizes (32 bits), pointers and document starts (64 bits).
Result<Lengths> current_version(const std::string& name, BinaryView view) {
  const auto version = view.take<std::uint64_t>();
  const auto type = view.take<std::uint8_t>();
  const auto sequences = view.take<std::uint64_t>();
  const auto documents = view.take<std::uint64_t>();
  if (!version || !type || !sequences || !documents)
    return malformed(name, "it ends within its header");
  if (*version != 1) return malformed(name, fmt::format("version {} is not known", *version));
  const auto sizes = view.take_array<std::int32_t>(*sequences);
  const auto pointers = view.take_array<std::int64_t>(*sequences);
  const auto starts = view.take_array<std::int64_t>(*documents);
  if (!sizes || !pointers || !starts)
    return malformed(name, fmt::format("it ends before its {} sequences and {} documents do",
                                       *sequences, *documents));
  return document_lengths(name, Sequences<std::int32_t>{*sizes, *starts});
}

/// Version, type, element size, counts; then offsets of dimensions and data, sizes and document
/// starts, all of 64 bits.
Result<Lengths> legacy_version(const std::string& name, BinaryView view) {
  const auto header = view.take_array<std::uint64_t>(6);
  if (!header) return malformed(name, "it ends within its header");
  if ((*header)[0] != 1)
    return malformed(name, fmt::format("version {} is not known", (*header)[0]));
  const std::uint64_t sequences = (*header)[3], dimensions = (*header)[4], documents = (*header)[5];
  if (dimensions != sequences)
    return malformed(name, "its sequences have more or fewer than one dimension");
  if (sequences == std::numeric_limits<std::uint64_t>::max())
    return malformed(name, "it ends before its sequences do");
  const auto dimension_offsets = view.take_array<std::int64_t>(sequences + 1);
  const auto data_offsets = view.take_array<std::int64_t>(sequences + 1);
  const auto sizes = view.take_array<std::int64_t>(dimensions);
  const auto starts = view.take_array<std::int64_t>(documents);
  if (!dimension_offsets || !data_offsets || !sizes || !starts)
    return malformed(name, fmt::format("it ends before its {} sequences and {} documents do",
                                       sequences, documents));
  return document_lengths(name, Sequences<std::int64_t>{*sizes, *starts});
}

}  // namespace

Result<Lengths> lengths_of_idx(const std::string& name, std::string_view content) {
  if (content.starts_with(magic))
    return current_version(name, BinaryView(content.substr(magic.size())));
  if (content.starts_with(legacy_magic))
    return legacy_version(name, BinaryView(content.substr(legacy_magic.size())));
  return malformed(name, "it begins with neither MMIDIDX nor TNTIDX");
}

}  // namespace cpplan::data
