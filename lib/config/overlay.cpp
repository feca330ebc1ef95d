#include "config/overlay.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace cpplan::config {
namespace {

/// Aliases make trees into graphs: each pair of nodes is merged once.
class Merger {
 public:
  explicit Merger(Document& owner) : owner_(owner) {}

  const Node* merge(const Node* base, const Node* over) {
    if (!base->is_mapping() || !over->is_mapping()) return over;
    const auto [done, is_new] = done_.try_emplace({base, over}, nullptr);
    if (!is_new) return done->second;
    Node& result = owner_.make_node(NodeKind::mapping);
    done->second = &result;
    result = *base;
    for (const Member& member : over->members) put(result, member);
    return &result;
  }

 private:
  void put(Node& result, const Member& member) {
    const Member* earlier = result.find(member.key);
    if (earlier == nullptr) {
      result.members.push_back(member);
      return;
    }
    Member later = member;
    later.value.node = merge(earlier->value.node, member.value.node);
    std::erase_if(result.members, [&](const Member& m) { return m.key == member.key; });
    result.members.push_back(std::move(later));
  }

  Document& owner_;
  std::map<std::pair<const Node*, const Node*>, const Node*> done_;
};

}  // namespace

const Node* merged(const Node& base, const Node& over, Document& owner) {
  return Merger(owner).merge(&base, &over);
}

}  // namespace cpplan::config
