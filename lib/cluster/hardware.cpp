#include "cluster/hardware.hpp"

#include <algorithm>
#include <cmath>

#include "base/contract.hpp"
#include "cluster/gpus.hpp"
#include "cluster/hardware_files.hpp"

namespace cpplan::cluster {
namespace {

constexpr std::string_view memory = "memory";

bool on_matrix_units(std::string_view op) {
  return op == "gemm" || op == "attention" || op == "attention_backward";
}

double efficiency_of(const HardwareProfile& profile, std::string_view name) {
  const auto found = profile.efficiency.find(name);
  return found == profile.efficiency.end() ? 1.0 : found->second;
}

double time_at(double amount, double rate) {
  return rate > 0 ? amount / rate : 0;
}

/// What is not a product runs on the vector units, in fp32.
double arithmetic_seconds(const HardwareProfile& profile, const OpWork& work) {
  if (!on_matrix_units(work.op)) return time_at(work.flops, profile.peak(Precision::fp32));
  return time_at(work.flops, profile.peak(work.precision) * efficiency_of(profile, work.op));
}

double seconds_on(const MeasuredOp::Curves& curves, const OpWork& work) {
  const bool busy = work.neighbours == Neighbours::busy && !curves.together.empty();
  return (busy ? curves.together : curves.alone)(curves.inner > 0 ? work.flops : work.bytes);
}

const std::vector<HardwareProfile>& profiles() {
  static const std::vector<HardwareProfile> all = [] {
    std::vector<HardwareProfile> read;
    for (const HardwareFile& file : hardware_files()) {
      const auto json = Json::parse(file.json);
      const auto profile = json ? hardware_from(*json) : tl::unexpected(json.error());
      expect(profile.has_value(), "a file of configs/hardware is a whole profile");
      read.push_back(*profile);
    }
    return read;
  }();
  return all;
}

}  // namespace

std::string_view name_of(Precision precision) {
  constexpr std::string_view names[] = {"bf16", "fp32", "fp64"};
  return names[static_cast<int>(precision)];
}

/// Between two lengths by the logarithm, which is how a loop's rate grows with it.
double MeasuredOp::seconds_of(const OpWork& work) const {
  const auto above = std::ranges::find_if(
      curves, [&](const Curves& measured) { return work.inner <= measured.inner; });
  if (above == curves.end()) return seconds_on(curves.back(), work);
  if (above == curves.begin()) return seconds_on(*above, work);
  const auto below = above - 1;
  const double share = std::log(work.inner / below->inner) / std::log(above->inner / below->inner);
  return (1 - share) * seconds_on(*below, work) + share * seconds_on(*above, work);
}

double HardwareProfile::peak(Precision precision) const {
  const auto found = flops_per_second.find(precision);
  return found == flops_per_second.end() ? 0 : found->second;
}

double HardwareProfile::seconds_of(const OpWork& work) const {
  const auto measured = ops.find(work.op);
  if (measured != ops.end()) return measured->second.seconds_of(work);
  const double memory_rate = bytes_per_second * efficiency_of(*this, memory);
  return seconds_per_op +
         std::max(arithmetic_seconds(*this, work), time_at(work.bytes, memory_rate));
}

std::optional<HardwareProfile> find_hardware(std::string_view name) {
  const auto gpu = find_gpu(name);
  if (!gpu) return std::nullopt;
  const auto found = std::ranges::find(profiles(), gpu->name, &HardwareProfile::name);
  return found == profiles().end() ? std::nullopt : std::optional(*found);
}

std::vector<std::string> hardware_names() {
  std::vector<std::string> names;
  for (const auto& profile : profiles()) names.push_back(profile.name);
  return names;
}

}  // namespace cpplan::cluster
