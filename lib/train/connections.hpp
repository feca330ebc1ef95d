#pragma once
// What carries the tensors of a rank: the transport that its host has, where they are in the host's
// memory; else NCCL, or that transport by way of pinned memory.
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "comm/nccl_library.hpp"
#include "comm/transports.hpp"

namespace cpplan::train {

/// automatic: NCCL where it can connect all ranks, else by way of the host.
enum class DeviceTransport : std::uint8_t { automatic, nccl, host };
std::string_view name_of(DeviceTransport);

/// The rank on its host's transport.
struct HostSide {
  std::string transport;  // "mpi", "threads"
  std::string host;       // name
  int rank = 0;
  comm::Endpoint& endpoint;
  std::function<comm::GroupSet(kernels::Trace&)> make_groups;
};

class Connections {
 public:
  struct Settings {
    layout::Ranks ranks;
    comm::GroupSettings groups;
    DeviceTransport wanted = DeviceTransport::automatic;
    Result<const comm::NcclPlugin*> (*nccl)() = comm::nccl_library;
  };

  /// `device`: where the tensors of the rank are; none: in the host's memory. Called by all ranks
  /// together. Throws Failure where NCCL is wanted and cannot connect them.
  Connections(const HostSide&, kernels::Device* device, kernels::Trace&, const Settings&);
  ~Connections();

  const comm::GroupSet& groups() const { return set_; }
  /// "mpi", "nccl", "mpi, staged"; of the rank's record.
  const std::string& transport() const { return transport_; }
  /// How the tensors of devices travel, and why not otherwise; empty for those of hosts.
  const std::string& note() const { return note_; }

 private:
  void connect_devices(const HostSide&, kernels::Device&, kernels::Trace&, const Settings&);
  void go_by_the_host(const HostSide&, kernels::Device&, comm::GroupSet of_host, kernels::Trace&,
                      const std::string& reason);

  kernels::NoTrace no_trace_;
  std::optional<comm::PinnedBlocks> blocks_;
  std::optional<comm::NcclWorld> nccl_;
  comm::GroupSet set_;
  std::string transport_, note_;
};

}  // namespace cpplan::train
