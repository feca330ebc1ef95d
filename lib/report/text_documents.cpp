#include <fmt/format.h>

#include <algorithm>

#include "base/text.hpp"
#include "report/table.hpp"
#include "report/text_sections.hpp"

namespace cpplan::report {
namespace {

constexpr std::size_t most_listed_documents = 32;

/// Valid tokens of the two halves that head-tail gives a rank: clamp(L - r * p, 0, p) and
/// clamp(L - (2 * CP - 1 - r) * p, 0, p) with p = padded / (2 * CP).
std::string halves_text(Index valid, Index padded, int cp) {
  std::string text;
  const Index chunk = padded / (2 * cp);
  for (int rank = 0; rank < cp; ++rank) {
    const Index head = std::clamp<Index>(valid - rank * chunk, 0, chunk);
    const Index tail = std::clamp<Index>(valid - (2 * cp - 1 - rank) * chunk, 0, chunk);
    text += fmt::format("{}{}+{}", text.empty() ? "" : " ", head, tail);
  }
  return text;
}

}  // namespace

std::string documents_section(const plan::Plan& plan) {
  if (!plan.documents) return "";
  const plan::DocumentLayout& d = *plan.documents;
  const int cp = plan.layout.dims.cp;
  Table table({{"document", Align::right},
               {"tokens", Align::right},
               {"padded", Align::right},
               {"from row", Align::right},
               {cp > 1 && cp <= 8 ? "valid tokens of each rank, head+tail" : ""}});
  for (std::size_t i = 0; i < std::min(d.lengths.size(), most_listed_documents); ++i)
    table.add({std::to_string(i), with_thousands(d.lengths[i]), with_thousands(d.padded_lengths[i]),
               with_thousands(d.cu_seqlens_padded[i]),
               cp > 1 && cp <= 8 ? halves_text(d.lengths[i], d.padded_lengths[i], cp) : ""});
  std::string text = table.text();
  if (d.lengths.size() > most_listed_documents)
    text += fmt::format("  ... {} documents in all\n", d.lengths.size());
  return text + fmt::format("  padded to multiples of {}; {} rows a rank\n", d.multiple,
                            with_thousands(d.tokens_per_rank));
}

}  // namespace cpplan::report
