#pragma once
// What can be wrong with a file that the parser reads: the findings of the tree's builder, as text.
#include <string_view>

#include "base/units.hpp"
#include "diag/source_file.hpp"

namespace cpplan::config {

enum class Repetition { same_value, other_value };  // of a key
enum class Boundary { marker, stray_text };         // `---`, or text behind a document's end

diag::Diagnostic second_document(diag::Span span, Boundary boundary);
diag::Diagnostic recursive_alias(diag::Span span, std::string_view alias);
diag::Diagnostic unsupported_tag(diag::Span span, std::string_view tag);
diag::Diagnostic too_deep(diag::Span span);
diag::Diagnostic open_quote(diag::Span span);
/// `key` is empty where a colon stands without one.
diag::Diagnostic key_without_colon(diag::Span span, std::string_view key);
/// A warning where both say the same, else an error: the last one wins.
diag::Diagnostic duplicate_key(diag::Span again, std::string_view key, const diag::Span& first,
                               Repetition repetition);
diag::Diagnostic collection_as_key(diag::Span span);
diag::Diagnostic merge_of_scalar(diag::Span span);
diag::Diagnostic too_many_merged(diag::Span span, Index limit);

}  // namespace cpplan::config
