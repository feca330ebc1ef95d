// The file format of hardware profiles: configs/hardware/*.json and what `cpplan bench` writes.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/json_reader.hpp"
#include "cluster/hardware.hpp"

namespace cpplan::cluster {
namespace {

constexpr Precision precisions[] = {Precision::bf16, Precision::fp32, Precision::fp64};

std::string_view name_of(Transfers transfers) {
  return transfers == Transfers::by_the_rank ? "by the rank" : "beside compute";
}

Json numbers_json(const auto& numbers) {
  Json json = Json::object();
  for (const auto& [name, value] : numbers) json[name] = value;
  return json;
}

Json rates_json(const HardwareProfile& profile) {
  Json json = Json::object();
  for (const auto& [precision, rate] : profile.flops_per_second)
    json[cluster::name_of(precision)] = rate;
  return json;
}

Json link_json(const Link& link) {
  Json json =
      Json::Object{{"seconds_to_start", link.seconds_to_start}, {"message", to_json(link.message)}};
  if (!link.sum.empty()) json["sum"] = to_json(link.sum);
  return json;
}

Json op_json(const MeasuredOp& op) {
  Json json = Json::array();
  for (const auto& [inner, alone, together] : op.curves) {
    Json curves = Json::Object{{"inner", inner}, {"alone", to_json(alone)}};
    if (!together.empty()) curves["together"] = to_json(together);
    json.push_back(std::move(curves));
  }
  return json;
}

/// Keeps the first error of the readers that do not know JsonReader's.
template <class T>
T take(Result<T> result, std::optional<Error>& error) {
  if (result) return std::move(*result);
  if (!error) error = std::move(result.error());
  return T{};
}

Curve curve_of(const JsonReader& json, std::string_view key, std::optional<Error>& error) {
  const Json* curve = json.json().find(key);
  if (curve != nullptr) return take(curve_from(*curve), error);
  if (!error)
    error = Error{fmt::format(
        "hardware profile has no \"{}\" (the schema wants a list of pairs there). measure again "
        "with cpplan bench",
        key)};
  return {};
}

/// A data sheet gives a latency and a rate, a measurement points.
Curve message_of(const JsonReader& json, std::optional<Error>& error) {
  if (json.json().find("message")) return curve_of(json, "message", error);
  const double seconds = json.number("seconds"), rate = json.number("bytes_per_second");
  return Curve::line(seconds, rate);
}

Link link_from(const JsonReader& json, std::optional<Error>& error) {
  Link link;
  link.message = message_of(json, error);
  if (json.json().find("sum")) link.sum = curve_of(json, "sum", error);
  link.seconds_to_start = json.number("seconds_to_start");
  return link;
}

MeasuredOp::Curves curves_from(const JsonReader& json, std::optional<Error>& error) {
  MeasuredOp::Curves curves{json.number("inner"), curve_of(json, "alone", error), {}};
  if (json.json().find("together")) curves.together = curve_of(json, "together", error);
  return curves;
}

void read_ops(const JsonReader& json, HardwareProfile& profile, std::optional<Error>& error) {
  for (const auto& member : json.json().members()) {
    MeasuredOp op;
    json.each(member.first,
              [&](const JsonReader& curves) { op.curves.push_back(curves_from(curves, error)); });
    if (!op.curves.empty()) profile.ops[member.first] = std::move(op);
  }
}

void read_compute(const JsonReader& json, HardwareProfile& profile) {
  const auto rates = json.object("flops_per_second");
  for (const Precision precision : precisions) {
    const auto name = cluster::name_of(precision);
    if (rates.json().find(name)) profile.flops_per_second[precision] = rates.number(name);
  }
  profile.bytes_per_second = json.number("bytes_per_second");
  profile.seconds_per_op = json.number("seconds_per_op");
  if (!json.json().find("efficiency")) return;
  const auto efficiency = json.object("efficiency");
  for (const auto& [name, value] : efficiency.json().members())
    if (name != "why") profile.efficiency[name] = efficiency.number(name);
}

HardwareProfile read_members(const JsonReader& json, std::optional<Error>& error) {
  HardwareProfile profile;
  profile.name = json.text("name");
  if (const Json* sources = json.json().find("sources"); sources && sources->is_array())
    for (const Json& source : sources->elements())
      if (source.is_string()) profile.sources.push_back(source.as_string());
  profile.devices_per_node = json.integer("devices_per_node");
  if (json.json().find("cores")) profile.cores = json.integer("cores");
  read_compute(json.object("compute"), profile);
  if (json.json().find("ops")) read_ops(json.object("ops"), profile, error);
  const auto links = json.object("links");
  profile.node = link_from(links.object("node"), error);
  if (links.json().find("network")) profile.network = link_from(links.object("network"), error);
  const bool by_rank = json.text("transfers") == name_of(Transfers::by_the_rank);
  profile.transfers = by_rank ? Transfers::by_the_rank : Transfers::beside_compute;
  return profile;
}

bool positive(double number) {
  return number > 0 && number < std::numeric_limits<double>::infinity();
}

bool usable(const HardwareProfile& profile) {
  const auto positive_value = [](const auto& entry) { return positive(entry.second); };
  return std::ranges::all_of(profile.flops_per_second, positive_value) &&
         std::ranges::all_of(profile.efficiency, positive_value) &&
         positive(profile.bytes_per_second) && profile.seconds_per_op >= 0 &&
         profile.devices_per_node >= 1 && profile.cores.value_or(1) >= 1;
}

}  // namespace

Json to_json(const HardwareProfile& profile) {
  Json compute = Json::Object{{"flops_per_second", rates_json(profile)},
                              {"bytes_per_second", profile.bytes_per_second},
                              {"seconds_per_op", profile.seconds_per_op}};
  if (!profile.efficiency.empty()) compute["efficiency"] = numbers_json(profile.efficiency);
  Json links = Json::Object{{"node", link_json(profile.node)}};
  if (profile.network) links["network"] = link_json(*profile.network);
  Json json = Json::Object{{"schema", hardware_schema},
                           {"name", profile.name},
                           {"sources", profile.sources},
                           {"devices_per_node", profile.devices_per_node}};
  if (profile.cores) json["cores"] = *profile.cores;
  json["compute"] = std::move(compute);
  if (!profile.ops.empty()) json["ops"] = Json::object();
  for (const auto& [name, op] : profile.ops) json["ops"][name] = op_json(op);
  json["links"] = std::move(links);
  json["transfers"] = name_of(profile.transfers);
  return json;
}

Result<HardwareProfile> hardware_from(const Json& json) {
  const Json* schema = json.find("schema");
  if (!schema || !schema->is_string() || schema->as_string() != hardware_schema)
    return failure(fmt::format(
        "the file is no hardware profile (its schema is not \"{}\"). write one with cpplan bench",
        hardware_schema));
  std::optional<Error> error;
  HardwareProfile profile = read_members(JsonReader(json, "hardware profile", error), error);
  if (error) return tl::unexpected(std::move(*error));
  if (!usable(profile))
    return failure(
        "the hardware profile has a rate that is none (rates and counts are greater than 0). "
        "measure again with cpplan bench");
  return profile;
}

}  // namespace cpplan::cluster
