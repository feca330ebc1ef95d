#include "checkpoint/manifest.hpp"

#include <fmt/format.h>

#include <tuple>

#include "base/json_reader.hpp"
#include "checkpoint/checksum.hpp"

namespace cpplan::checkpoint {
namespace {

constexpr std::string_view seal_key = "xxh64";  // the last member, of all that stands before it

Json slice_json(const SliceEntry& entry) {
  const auto& [shard, first, count] = entry.slice;
  return Json::Object{{"tensor", entry.tensor},
                      {"of", Json(std::vector<Index>{shard.rows, shard.cols})},
                      {"rows", Json(std::vector<Index>{shard.first_row, shard.row_count})},
                      {"cols", Json(std::vector<Index>{shard.first_col, shard.col_count})},
                      {"elements", Json(std::vector<Index>{first, count})},
                      {"xxh64", to_hex(entry.checksum)}};
}

Json slices_json(const std::vector<SliceEntry>& slices) {
  Json json = Json::array();
  for (const SliceEntry& entry : slices) json.push_back(slice_json(entry));
  return json;
}

Json files_json(const std::vector<FileEntry>& files) {
  Json json = Json::array();
  for (const FileEntry& file : files)
    json.push_back(Json::Object{{"name", file.name},
                                {"bytes", file.size},
                                {"sealed_bytes", file.sealed},
                                {"xxh64", to_hex(file.checksum)}});
  return json;
}

Json data_json(const DataPosition& data) {
  return Json::Object{{"samples", data.samples},
                      {"samples_per_step", data.samples_per_step},
                      {"samples_per_epoch", data.samples_per_epoch},
                      {"sequence_len", data.sequence_len},
                      {"seed", to_hex(data.seed)},
                      {"hash", to_hex(data.hash)}};
}

Json layout_json(const layout::ParallelDims& dims) {
  return Json::Object{{"tp", dims.tp},
                      {"cp", dims.cp},
                      {"pp", dims.pp},
                      {"dp", dims.dp},
                      {"sequence_parallel", dims.sequence_parallel}};
}

Json unsealed(const Manifest& manifest) {
  Json json = Json::object();
  json["schema"] = Manifest::schema;
  json["step"] = manifest.step;
  json["run"] = manifest.run;
  json["cpplan"] = manifest.version;
  json["plan_hash"] = to_hex(manifest.plan_hash);
  json["layout"] = layout_json(manifest.dims);
  json["data"] = data_json(manifest.data);
  json["files"] = files_json(manifest.files);
  json["slices"] = slices_json(manifest.slices);
  return json;
}

/// Reads members; remembers the first that cannot be used, whatever its kind.
class Reading {
 public:
  explicit Reading(std::optional<Error>& error) : error_(error) {}

  std::uint64_t hex(const JsonReader& json, std::string_view key) {
    const auto value = from_hex(json.text(key));
    if (!value && !error_) error_ = value.error();
    return value.value_or(0);
  }

  /// Two numbers, neither negative.
  std::pair<Index, Index> pair(const JsonReader& json, std::string_view key) {
    const Json* list = json.json().is_object() ? json.json().find(key) : nullptr;
    const bool two = list && list->is_array() && list->elements().size() == 2;
    if (two && list->elements()[0].is_integer() && list->elements()[1].is_integer() &&
        list->elements()[0].as_integer() >= 0 && list->elements()[1].as_integer() >= 0)
      return {list->elements()[0].as_integer(), list->elements()[1].as_integer()};
    if (!error_) error_ = Error{fmt::format("\"{}\" of a slice is no pair of numbers", key)};
    return {};
  }

  SliceEntry slice(const JsonReader& json) {
    SliceEntry entry{.tensor = json.text("tensor")};
    auto& shard = entry.slice.shard;
    shard.name = entry.tensor;
    std::tie(shard.rows, shard.cols) = pair(json, "of");
    std::tie(shard.first_row, shard.row_count) = pair(json, "rows");
    std::tie(shard.first_col, shard.col_count) = pair(json, "cols");
    std::tie(entry.slice.first, entry.slice.count) = pair(json, "elements");
    entry.checksum = hex(json, "xxh64");
    return entry;
  }

  FileEntry file(const JsonReader& json) {
    return {.name = json.text("name"),
            .size = {json.integer("bytes")},
            .sealed = {json.integer("sealed_bytes")},
            .checksum = hex(json, "xxh64")};
  }

  DataPosition data(const JsonReader& json) {
    return {.samples = json.integer("samples"),
            .samples_per_step = json.integer("samples_per_step"),
            .samples_per_epoch = json.integer("samples_per_epoch"),
            .sequence_len = json.integer("sequence_len"),
            .seed = hex(json, "seed"),
            .hash = hex(json, "hash")};
  }

  layout::ParallelDims dims(const JsonReader& json) {
    const auto dims =
        layout::make_parallel_dims(json.integer("tp"), json.integer("cp"), json.integer("pp"),
                                   json.integer("dp"), json.flag("sequence_parallel"));
    if (!dims && !error_) error_ = dims.error();
    return dims.value_or(layout::ParallelDims{});
  }

 private:
  std::optional<Error>& error_;
};

Manifest read_members(const JsonReader& json, std::optional<Error>& error) {
  Reading reading(error);
  Manifest manifest{.step = json.integer("step"),
                    .run = json.text("run"),
                    .version = json.text("cpplan"),
                    .plan_hash = reading.hex(json, "plan_hash"),
                    .dims = reading.dims(json.object("layout")),
                    .data = reading.data(json.object("data"))};
  json.each("files", [&](const JsonReader& file) { manifest.files.push_back(reading.file(file)); });
  json.each("slices",
            [&](const JsonReader& slice) { manifest.slices.push_back(reading.slice(slice)); });
  return manifest;
}

/// The document without its last member, where that is the right checksum of the rest.
Result<Json> unsealed(const Json& json) {
  if (!json.is_object() || json.members().empty() || json.members().back().first != seal_key ||
      !json.members().back().second.is_string())
    return failure("it has no checksum");
  Json::Object members = json.members();
  const std::string found = members.back().second.as_string();
  members.pop_back();
  Json rest(std::move(members));
  if (to_hex(checksum_of(rest.dump())) != found)
    return failure("it does not match its checksum: it has changed since it was written");
  return rest;
}

}  // namespace

std::string to_text(const Manifest& manifest) {
  Json json = unsealed(manifest);
  json[seal_key] = to_hex(checksum_of(json.dump()));
  return json.dump() + "\n";
}

Result<Manifest> manifest_of(const std::string& text) {
  const auto parsed = Json::parse(text);
  if (!parsed) return failure(fmt::format("it is no JSON: {}", parsed.error().message));
  const auto json = unsealed(*parsed);
  if (!json) return tl::unexpected(json.error());
  const Json* schema = json->find("schema");
  if (!schema || !schema->is_string() || schema->as_string() != Manifest::schema)
    return failure(fmt::format("its schema is not \"{}\"", Manifest::schema));
  std::optional<Error> error;
  Manifest manifest = read_members(JsonReader(*json, "it", error), error);
  if (error) return tl::unexpected(*error);
  return manifest;
}

std::string account_of(const std::vector<SliceEntry>& slices) {
  Json json = Json::object();
  json["slices"] = slices_json(slices);
  return json.dump() + "\n";
}

Result<std::vector<SliceEntry>> slices_of_account(const std::string& text) {
  const auto json = Json::parse(text);
  if (!json) return tl::unexpected(json.error());
  std::optional<Error> error;
  Reading reading(error);
  std::vector<SliceEntry> slices;
  JsonReader(*json, "account", error).each("slices", [&](const JsonReader& slice) {
    slices.push_back(reading.slice(slice));
  });
  if (error) return tl::unexpected(*error);
  return slices;
}

}  // namespace cpplan::checkpoint
