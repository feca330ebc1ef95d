#pragma once
// What a machine can do, as far as the time of a step needs it: compute rates and links, from a
// data sheet (configs/hardware) or measured by `cpplan bench`. How much of a data sheet's rate a
// kernel reaches is an assumption that the profile states.
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.hpp"
#include "cluster/curve.hpp"

namespace cpplan::cluster {

/// Of operands and products; sums are taken in fp32 or better.
enum class Precision : std::uint8_t { bf16, fp32, fp64 };
std::string_view name_of(Precision);

/// Whether every other rank of the node computes at the same time, and shares its memory.
enum class Neighbours : std::uint8_t { idle, busy };

/// What an op does, in the terms of its cost.
struct OpWork {
  std::string_view op;  // "gemm", "attention", ...
  double flops = 0, bytes = 0;
  double inner = 0;  // length of the sums of a product, else 0
  Precision precision = Precision::bf16;
  Neighbours neighbours = Neighbours::idle;
};

/// One way between two ranks.
struct Link {
  Curve message;                // seconds of a message, by its bytes
  Curve sum;                    // the same with what arrives added up; empty: as message
  double seconds_to_start = 0;  // of a transfer, however many messages it has
  const Curve& adding() const { return sum.empty() ? message : sum; }
};

/// Who moves the bytes: an engine of its own, beside what the rank computes, or the rank itself
/// while it waits.
enum class Transfers : std::uint8_t { beside_compute, by_the_rank };

/// An op's measured seconds: of products by their FLOPs and the length of their sums, of all others
/// by bytes; with idle and with busy neighbours.
struct MeasuredOp {
  struct Curves {
    double inner = 0;  // length of the sums
    Curve alone, together;
  };
  std::vector<Curves> curves;  // by increasing length; one for what is no product

  double seconds_of(const OpWork&) const;
};

struct HardwareProfile {
  std::string name;
  std::vector<std::string> sources;
  Index devices_per_node = 1;  // ranks that are linked without the network
  std::optional<Index> cores;  // that the ranks of a node share; none: each has its own device
  std::map<Precision, double> flops_per_second;           // dense
  double bytes_per_second = 0;                            // of memory
  double seconds_per_op = 0;                              // before an op begins
  std::map<std::string, double, std::less<>> efficiency;  // of a rate: "gemm", ..., "memory"
  std::map<std::string, MeasuredOp, std::less<>> ops;     // go before rates
  Link node;
  std::optional<Link> network;
  Transfers transfers = Transfers::beside_compute;

  /// 0 where the profile has no rate for it.
  double peak(Precision) const;
  double seconds_of(const OpWork&) const;
  /// The link of ranks that are, or are not, on one node.
  const Link& link(bool same_node) const { return same_node || !network ? node : *network; }
};

/// By a GPU's name, as cluster::find_gpu() understands it. None where no profile is known.
std::optional<HardwareProfile> find_hardware(std::string_view gpu);
std::vector<std::string> hardware_names();

inline constexpr std::string_view hardware_schema = "cpplan/hardware/1";
Json to_json(const HardwareProfile&);
/// Error: another schema, or a member that is missing or of another kind, by its path.
Result<HardwareProfile> hardware_from(const Json&);

}  // namespace cpplan::cluster
