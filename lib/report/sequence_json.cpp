#include "report/sequence_json.hpp"

#include <algorithm>

namespace cpplan::report {
namespace {

using plan::SequenceLayout;

constexpr Index longest_listed = 1024;

Json layout_json(const SequenceLayout& layout) {
  return Json::Object{{"kind", layout.kind},
                      {"chunks", layout.chunks},
                      {"chunk_tokens", layout.chunk_tokens},
                      {"padded_sequence_len", layout.padded_sequence_len},
                      {"imbalance", layout.imbalance}};
}

std::vector<Index> tokens_of(const std::vector<Index>& chunks, Index chunk_tokens,
                             Index sequence_len) {
  std::vector<Index> tokens;
  for (const Index chunk : chunks) {
    const Index end = std::min((chunk + 1) * chunk_tokens, sequence_len);
    for (Index token = chunk * chunk_tokens; token < end; ++token) tokens.push_back(token);
  }
  return tokens;
}

Json tokens_of_ranks(const SequenceLayout& layout, Index sequence_len) {
  Json ranks = Json::array();
  for (const auto& chunks : layout.chunks)
    ranks.push_back(tokens_of(chunks, layout.chunk_tokens, sequence_len));
  return ranks;
}

void add_layout_of_kind(Json& json, const SequenceLayout& layout, const plan::Plan& plan) {
  json["padded_len_" + layout.kind] = layout.padded_sequence_len;
  json["local_len_" + layout.kind] = layout.padded_sequence_len / plan.layout.dims.cp;
  json["chunk_" + layout.kind] = layout.chunk_tokens;
  if (layout.padded_sequence_len <= longest_listed)
    json[layout.kind] = tokens_of_ranks(layout, plan.batch.sequence_len);
}

Json work_json(const plan::DocumentWork& work) {
  return Json::Object{{"causal_pairs", work.pairs}, {"imbalance", work.imbalance}};
}

/// Of one packed sequence; its tokens_per_rank takes the place of the padded sequence's.
void add_documents(Json& json, const plan::DocumentLayout& documents) {
  json["document_multiple"] = documents.multiple;
  json["document_lengths"] = documents.lengths;
  json["padded_lengths"] = documents.padded_lengths;
  json["cu_seqlens"] = documents.cu_seqlens;
  json["cu_seqlens_padded"] = documents.cu_seqlens_padded;
  json["tokens_per_rank"] = documents.tokens_per_rank;
  if (documents.head_tail.pairs.empty()) return;
  json["document_work"] = Json::Object{{"of_head_tail", work_json(documents.head_tail)},
                                       {"of_contiguous", work_json(documents.contiguous)},
                                       {"of_striped", work_json(documents.striped)}};
}

}  // namespace

Json sequence_json(const plan::Plan& plan) {
  const SequenceLayout &framework = plan.framework_layout, &engine = plan.engine_layout;
  Json json = Json::Object{{"framework_layout", layout_json(framework)},
                           {"engine_layout", layout_json(engine)},
                           {"padded_len", framework.padded_sequence_len},
                           {"tokens_per_rank", framework.padded_sequence_len / plan.layout.dims.cp},
                           {"pad_tokens", engine.pad_tokens}};
  for (const SequenceLayout* layout : {&framework, &engine})
    if (!layout->kind.empty()) add_layout_of_kind(json, *layout, plan);
  if (plan.documents) add_documents(json, *plan.documents);
  return json;
}

}  // namespace cpplan::report
