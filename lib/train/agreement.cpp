#include "train/agreement.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <map>

#include "base/failure.hpp"
#include "base/json.hpp"

namespace cpplan::train {
namespace {

std::string encoded(const Testimony& testimony) {
  Json facts = Json::object();
  for (const auto& [name, value] : testimony.facts) facts[name] = value;
  return Json(Json::Object{{"host", testimony.host}, {"facts", std::move(facts)}}).dump();
}

/// Of a rank that runs another version, whose words may be of another kind, as much as there is.
Testimony decoded(const std::string& text) {
  Testimony testimony;
  const auto json = Json::parse(text);
  if (!json || !json->is_object()) return testimony;
  if (const Json* host = json->find("host"); host && host->is_string())
    testimony.host = host->as_string();
  if (const Json* facts = json->find("facts"); facts && facts->is_object())
    for (const auto& [name, value] : facts->members())
      if (value.is_string()) testimony.facts.push_back({name, value.as_string()});
  return testimony;
}

/// A rank of those that most agree with; of several as many, the one with the lowest rank.
std::size_t rank_of_majority(std::span<const Testimony> ranks) {
  std::map<std::uint64_t, Index> votes;
  for (const Testimony& rank : ranks) ++votes[hash_of(rank.facts)];
  const auto of_rank = [&](const Testimony& rank) { return votes[hash_of(rank.facts)]; };
  const auto most = std::ranges::max_element(ranks, {}, of_rank);
  return static_cast<std::size_t>(most - ranks.begin());
}

std::string value_of(const Facts& facts, std::string_view name) {
  const auto fact = std::ranges::find(facts, name, &Fact::name);
  if (fact == facts.end()) return "unknown";
  return fact->value.empty() ? "none" : fact->value;
}

/// Of one side's facts, those that the other has otherwise, or not at all.
std::vector<std::string> differing(const Facts& facts, const Facts& others) {
  std::vector<std::string> names;
  for (const Fact& fact : facts)
    if (std::ranges::find(others, fact) == others.end()) names.push_back(fact.name);
  return names;
}

std::string first_difference(const Facts& odd, const Facts& others) {
  auto names = differing(others, odd);
  if (names.empty()) names = differing(odd, others);
  if (names.empty()) return "in the order of its values";
  const std::string more = names.size() == 1 ? "" : fmt::format(", and {} more", names.size() - 1);
  return fmt::format("{} {} against {}{}", names.front(), value_of(odd, names.front()),
                     value_of(others, names.front()), more);
}

/// Names and contents of notes fill whole words.
std::size_t padded(std::size_t size) {
  return (size + 3) / 4 * 4;
}

int add_build_id(dl_phdr_info* object, std::size_t, void* into) {
  constexpr std::size_t header = sizeof(ElfW(Nhdr)), name = 4;  // "GNU"
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    const auto* note = reinterpret_cast<const unsigned char*>(object->dlpi_addr + segment.p_vaddr);
    for (std::size_t at = 0; at + header + name <= segment.p_memsz;) {
      const auto* entry = reinterpret_cast<const ElfW(Nhdr)*>(note + at);
      const unsigned char* id = note + at + header + padded(entry->n_namesz);
      if (entry->n_type == NT_GNU_BUILD_ID)
        for (std::size_t byte = 0; byte < entry->n_descsz; ++byte)
          *static_cast<std::string*>(into) += fmt::format("{:02x}", id[byte]);
      at += header + padded(entry->n_namesz) + padded(entry->n_descsz);
    }
  }
  return 1;  // the program comes first, and its libraries do not matter
}

}  // namespace

std::optional<Disagreement> disagreement(std::span<const Testimony> ranks) {
  const std::size_t with = rank_of_majority(ranks);
  const auto odd = std::ranges::find_if(
      ranks, [&](const Testimony& rank) { return rank.facts != ranks[with].facts; });
  if (odd == ranks.end()) return {};
  const auto number = odd - ranks.begin();
  return Disagreement{
      static_cast<int>(number),
      fmt::format("rank {} ({}) is about to train another run than rank {} ({}): {} (the ranks of "
                  "a job train one run). start all of them with the same files, flags and cpplan",
                  number, odd->host, with, ranks[with].host,
                  first_difference(odd->facts, ranks[with].facts))};
}

std::string build_of_program() {
  std::string id;
  dl_iterate_phdr(add_build_id, &id);
  return id.empty() ? CPPLAN_VERSION : fmt::format("{} (build {})", CPPLAN_VERSION, id);
}

void agree_on(const Facts& facts, comm::MpiWorld& world, kernels::Trace& trace) {
  Testimony mine{world.host_name(), facts};
  mine.facts.push_back({"version of cpplan", build_of_program()});
  const auto id = trace.next_id();
  trace.start({.id = id,
               .group = "world",
               .collective = "agreement",
               .rank = world.rank(),
               .size = world.size(),
               .sent = {},
               .routes = {}});
  trace.waiting("world", id);
  std::vector<Testimony> ranks;
  if (!world.agree(hash_of(mine.facts)))
    for (const std::string& text : world.gather(encoded(mine))) ranks.push_back(decoded(text));
  trace.wait("world", id);
  if (ranks.empty()) return;
  const auto found = disagreement(ranks);
  expect(found.has_value(), "ranks with different hashes have different facts");
  throw Failure(found->words,
                found->rank == world.rank() ? Failure::Role::cause : Failure::Role::witness);
}

}  // namespace cpplan::train
