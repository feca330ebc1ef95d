#include "config/document.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>
#include <unordered_map>

#include "config/source_checks.hpp"
#include "config/syntax_errors.hpp"
#include "config/tree_findings.hpp"

namespace cpplan::config {
namespace {

using diag::Diagnostics;
using diag::Span;

constexpr std::string_view core_tag = "tag:yaml.org,2002:";
constexpr std::size_t max_merged_members = 100'000;  // merges of merges grow with the square

/// Ends the parse from inside a handler; the finding is already made.
struct Stop {};

bool is_known_tag(std::string_view tag) {
  if (!tag.starts_with(core_tag)) return false;
  tag.remove_prefix(core_tag.size());
  for (const std::string_view known : {"str", "int", "float", "bool", "null", "map", "seq",
                                       "binary", "timestamp", "set", "omap", "pairs"})
    if (tag == known) return true;
  return false;
}

/// Two scalars that are written alike.
bool says_the_same(const Node& a, const Node& b) {
  return a.kind == NodeKind::scalar && b.kind == NodeKind::scalar && a.style == b.style &&
         a.text == b.text && a.tag == b.tag;
}

/// A collection whose end has not been seen.
struct Frame {
  Node* node = nullptr;
  std::size_t begin = 0, end = 0;  // end: of the last child so far
  int column = 0;                  // 0-based, of a block collection
  YAML::EmitterStyle::value style = YAML::EmitterStyle::Default;
  bool has_key = false;
  std::string key;
  ScalarStyle key_style = ScalarStyle::plain;
  Stretch key_place;
  std::unordered_map<std::string, std::size_t> seen;  // key -> index of its first member
  std::vector<Value> merged;
};

class Builder final : public YAML::EventHandler {
 public:
  Builder(const diag::SourceFile& source, Document& document, Diagnostics& findings)
      : source_(source), text_(source.text()), document_(document), findings_(findings) {}

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (++documents_ == 1) return;
    const std::size_t at = std::min(text_.rfind("---", offset(mark)), text_.size());
    const bool is_marked = at < text_.size() && skip_blank(text_, at + 3) >= offset(mark);
    const std::size_t begin = is_marked ? at : offset(mark);
    const std::size_t end = std::min(begin + (is_marked ? 3 : 1), text_.size());
    findings_.push_back(second_document(source_.span(begin, end),
                                        is_marked ? Boundary::marker : Boundary::stray_text));
    throw Stop{};
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t at = skip_properties_of(mark, anchor);
    const Stretch place = written_null(mark, at) ? Stretch{at, null_end(at)} : empty_place(at);
    add(remember(anchor, document_.make_node(NodeKind::null)), place);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const std::size_t at = offset(mark);
    const Stretch place{at, std::min(text_.find_first_of(" \t\r\n,[]{}:", at), text_.size())};
    const Node* node = anchors_.at(anchor);
    if (is_open(node)) {
      findings_.push_back(recursive_alias(source_.span(place.begin, place.end),
                                          text_.substr(place.begin, place.end - place.begin)));
      node = &document_.make_node(NodeKind::null);
    }
    add(*node, place);
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    Node& node = remember(anchor, document_.make_node(NodeKind::scalar));
    const std::size_t at = skip_properties(text_, offset(mark));
    const Stretch place = place_scalar(node, at, value);
    node.text = value;
    set_tag(node, tag, mark);
    add(node, place);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, NodeKind::sequence);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, style, NodeKind::mapping);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    merge_members();
    close();
  }

  std::vector<Stretch> take_opaque() { return std::move(opaque_); }

 private:
  std::size_t offset(const YAML::Mark& mark) const {
    return std::min(static_cast<std::size_t>(std::max(mark.pos, 0)), text_.size());
  }

  std::size_t skip_properties_of(const YAML::Mark& mark, YAML::anchor_t anchor) const {
    const std::size_t at = offset(mark);
    return anchor == YAML::NullAnchor
               ? at
               : std::min(text_.find_first_of(" \t\r\n,]}", at), text_.size());
  }

  Node& remember(YAML::anchor_t anchor, Node& node) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = &node;
    return node;
  }

  bool is_open(const Node* node) const {
    return std::any_of(open_.begin(), open_.end(), [&](const Frame& f) { return f.node == node; });
  }

  std::size_t null_end(std::size_t at) const {
    for (const std::string_view word : {"~", "null", "Null", "NULL"})
      if (text_.substr(at).starts_with(word)) return at + word.size();
    return at;
  }

  /// The mark of an empty value is that of the next token, which may be a key called null.
  bool written_null(const YAML::Mark& mark, std::size_t at) const {
    if (null_end(at) == at) return false;
    if (open_.empty() || open_.back().style == YAML::EmitterStyle::Flow) return true;
    const Frame& frame = open_.back();
    return !frame.has_key || mark.column > frame.column;
  }

  /// Of a value that is not written: behind the colon of its key, or where it would stand.
  Stretch empty_place(std::size_t at) const {
    if (open_.empty() || !open_.back().has_key) return {at, at};
    const std::size_t colon = text_.find(':', open_.back().key_place.end);
    return colon < text_.size() ? Stretch{colon + 1, colon + 1} : Stretch{at, at};
  }

  Stretch place_scalar(Node& node, std::size_t at, std::string_view value) {
    const char first = at < text_.size() ? text_[at] : '\0';
    const bool in_flow = !open_.empty() && open_.back().style == YAML::EmitterStyle::Flow;
    if (first == '"' || first == '\'') {
      node.style = ScalarStyle::quoted;
      opaque_.push_back({at, quoted_end(text_, at)});
      if (!is_closed(opaque_.back(), first)) report_open_quote(at);
      return opaque_.back();
    }
    if ((first == '|' || first == '>') && !in_flow) {
      node.style = ScalarStyle::block;
      opaque_.push_back({std::min(text_.find('\n', at), text_.size()), block_end(text_, at)});
      return {at, opaque_.back().end};
    }
    return {at, plain_end(text_, at, value)};
  }

  bool is_closed(const Stretch& quoted, char quote) const {
    return quoted.end > quoted.begin + 1 && text_[quoted.end - 1] == quote;
  }

  void report_open_quote(std::size_t at) {
    findings_.push_back(open_quote(source_.span(at, at + 1)));
    throw Stop{};
  }

  /// The parser takes a line without a colon for a key without a value; PyYAML does not.
  void check_colon(const Frame& frame) {
    if (frame.style == YAML::EmitterStyle::Flow) return;
    const Stretch& key = frame.key_place;
    const std::size_t after = std::min(text_.find_first_not_of(" \t", key.end), text_.size());
    const bool explicit_key = text_.substr(0, key.begin).ends_with("? ");
    if (key.end > key.begin && ((after < text_.size() && text_[after] == ':') || explicit_key))
      return;
    const std::size_t end = std::max(key.end, std::min(key.begin + 1, text_.size()));
    findings_.push_back(key_without_colon(source_.span(key.begin, end),
                                          key.end > key.begin ? frame.key : std::string()));
    throw Stop{};
  }

  void set_tag(Node& node, const std::string& tag, const YAML::Mark& mark) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    node.tag = tag;
    if (is_known_tag(tag)) return;
    node.tag_is_supported = false;
    const std::size_t begin = std::min(text_.find('!', offset(mark)), text_.size());
    const std::size_t end = std::min(text_.find_first_of(" \t\r\n,", begin), text_.size());
    findings_.push_back(
        unsupported_tag(source_.span(begin, end), text_.substr(begin, end - begin)));
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
            YAML::EmitterStyle::value style, NodeKind kind) {
    Node& node = remember(anchor, document_.make_node(kind));
    const std::size_t at = skip_properties(text_, offset(mark));
    if (open_.size() >= static_cast<std::size_t>(max_nesting)) {
      findings_.push_back(too_deep(source_.span(at, std::min(at + 1, text_.size()))));
      throw Stop{};
    }
    set_tag(node, tag, mark);
    Frame& frame = open_.emplace_back();
    frame.node = &node;
    frame.begin = frame.end = at;
    frame.column = source_.position(at).column - 1;
    frame.style = style;
  }

  void close() {
    const Frame frame = std::move(open_.back());
    open_.pop_back();
    const bool flow = frame.style == YAML::EmitterStyle::Flow;
    add(*frame.node, {frame.begin, flow ? flow_end(frame) : frame.end});
  }

  /// Behind the bracket that closes a flow collection; a compact mapping in a list has none.
  std::size_t flow_end(const Frame& frame) const {
    const char closing = text_[frame.begin] == '{' ? '}' : ']';
    if (text_[frame.begin] != '{' && text_[frame.begin] != '[') return frame.end;
    std::size_t at = std::max(frame.end, frame.begin + 1);
    if (frame.end == frame.begin) at = frame.begin + 1;
    for (at = skip_blank(text_, at); at < text_.size() && text_[at] == ',';)
      at = skip_blank(text_, at + 1);
    return at < text_.size() && text_[at] == closing ? at + 1 : frame.end;
  }

  void add(const Node& node, const Stretch& place) {
    const Value value{&node, source_.span(place.begin, place.end)};
    if (open_.empty()) {
      document_.root = value;
      return;
    }
    Frame& frame = open_.back();
    frame.end = std::max(frame.end, place.end);
    if (frame.node->is_sequence())
      frame.node->elements.push_back(value);
    else if (!frame.has_key)
      set_key(frame, node, place);
    else
      add_member(frame, value);
  }

  void set_key(Frame& frame, const Node& node, const Stretch& place) {
    if (node.is_mapping() || node.is_sequence())
      findings_.push_back(collection_as_key(source_.span(place.begin, place.end)));
    frame.has_key = true;
    frame.key = node.text;
    frame.key_style = node.style;
    frame.key_place = place;
  }

  void add_member(Frame& frame, const Value& value) {
    frame.has_key = false;
    check_colon(frame);
    const Span key_span = source_.span(frame.key_place.begin, frame.key_place.end);
    if (frame.key == "<<" && frame.key_style == ScalarStyle::plain) {
      remember_merge(frame, value);
      return;
    }
    const auto [first, is_new] = frame.seen.try_emplace(frame.key, frame.node->members.size());
    if (!is_new) {
      const Member& earlier = frame.node->members[first->second];
      const Repetition kind = says_the_same(*earlier.value.node, *value.node)
                                  ? Repetition::same_value
                                  : Repetition::other_value;
      findings_.push_back(duplicate_key(key_span, earlier.key, earlier.key_span, kind));
    }
    frame.node->members.push_back({std::move(frame.key), key_span, value});
  }

  void remember_merge(Frame& frame, const Value& value) {
    const bool is_list = value.node->is_sequence();
    const std::vector<Value> sources = is_list ? value.node->elements : std::vector<Value>{value};
    for (const Value& source : sources) {
      if (source.node->is_mapping())
        frame.merged.push_back(source);
      else
        findings_.push_back(merge_of_scalar(value.span));
    }
  }

  /// Own members win over merged ones, and an earlier merge over a later one.
  void merge_members() {
    Frame& frame = open_.back();
    for (const Value& source : frame.merged)
      for (const Member& member : source.node->members) {
        if (!frame.seen.try_emplace(member.key, frame.node->members.size()).second) continue;
        if (++merged_ > max_merged_members) stop_at_merge(source.span);
        frame.node->members.push_back(member);
      }
  }

  [[noreturn]] void stop_at_merge(const Span& span) {
    findings_.push_back(too_many_merged(span, Index{max_merged_members}));
    throw Stop{};
  }

  const diag::SourceFile& source_;
  std::string_view text_;
  Document& document_;
  Diagnostics& findings_;
  int documents_ = 0;
  std::size_t merged_ = 0;
  std::vector<Frame> open_;
  std::vector<Stretch> opaque_;
  std::unordered_map<YAML::anchor_t, const Node*> anchors_;
};

/// What the parser said, as a finding. An exception without a place is one of the library's own.
diag::Diagnostic parser_finding(const diag::SourceFile& source, const YAML::Exception& e) {
  const std::size_t at =
      e.mark.is_null() ? 0 : std::min(static_cast<std::size_t>(e.mark.pos), source.text().size());
  return syntax_finding(source, at, e.msg);
}

}  // namespace

const Member* Node::find(std::string_view key) const {
  const auto found =
      std::find_if(members.rbegin(), members.rend(), [&](const Member& m) { return m.key == key; });
  return found == members.rend() ? nullptr : &*found;
}

Node& Document::make_node(NodeKind kind) {
  Node& node = nodes_.emplace_back();
  node.kind = kind;
  return node;
}

Document parse_document(const diag::SourceFile& source, Diagnostics& findings) {
  Document document;
  Diagnostics found;
  Builder builder(source, document, found);
  bool failed = true;
  try {
    std::istringstream stream(source.text());
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
    failed = false;
  } catch (const Stop&) {
  } catch (const YAML::Exception& e) {
    found.push_back(parser_finding(source, e));
  }
  Diagnostics characters;
  check_characters(source, builder.take_opaque(), characters);
  if (failed) {
    drop_followers(characters, found);
    document.root = {};
  }
  findings.insert(findings.end(), characters.begin(), characters.end());
  findings.insert(findings.end(), found.begin(), found.end());
  return document;
}

}  // namespace cpplan::config
