#pragma once
// The tree of a YAML file as its framework's loader (PyYAML) builds it, every value with the place
// where it stands. Aliases share nodes, so the tree is never larger than the text; merge keys are
// resolved. document.cpp is the only file that knows yaml-cpp.
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "diag/source_file.hpp"

namespace cpplan::config {

struct Node;

/// A node at one place: an alias has its own place and its anchor's node.
struct Value {
  const Node* node = nullptr;
  diag::Span span;
};

struct Member {
  std::string key;
  diag::Span key_span;
  Value value;
};

enum class NodeKind { null, scalar, sequence, mapping };
enum class ScalarStyle { plain, quoted, block };

struct Node {
  NodeKind kind = NodeKind::null;
  ScalarStyle style = ScalarStyle::plain;
  std::string text;              // of a scalar, quotes and escapes resolved
  std::string tag;               // "tag:yaml.org,2002:str" where one is written; else empty
  bool tag_is_supported = true;  // false: a safe loader refuses it
  std::vector<Member> members;
  std::vector<Value> elements;

  bool is_mapping() const { return kind == NodeKind::mapping; }
  bool is_sequence() const { return kind == NodeKind::sequence; }
  bool is_null() const { return kind == NodeKind::null; }
  /// Of a mapping; the last one where a key stands twice, as upstream reads it. nullptr if absent.
  const Member* find(std::string_view key) const;
};

/// Owns the nodes. Deep chains of aliases are no reason for a deep destructor.
class Document {
 public:
  Document() = default;
  // Nodes point at each other: a copy would point into its original. A move keeps every address.
  Document(Document&&) = default;
  Document& operator=(Document&&) = default;

  /// A node that lives as long as the document.
  Node& make_node(NodeKind kind);

  Value root;

 private:
  std::deque<Node> nodes_;
};

/// Deepest nesting that is read; PyYAML itself ends near 300 in Python's recursion limit.
constexpr int max_nesting = 100;

/// Reads `source` (UTF-8, without byte order mark; check_encoding has passed it). Findings CP001 to
/// CP014 are appended; the root is without node where the text is no YAML.
Document parse_document(const diag::SourceFile& source, diag::Diagnostics& findings);

}  // namespace cpplan::config
