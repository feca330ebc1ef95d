#include "train/connections.hpp"

#include <fmt/format.h>

#include "base/failure.hpp"
#include "comm/nccl.hpp"
#include "comm/rank_place.hpp"

namespace cpplan::train {

std::string_view name_of(DeviceTransport transport) {
  if (transport == DeviceTransport::automatic) return "automatic";
  return transport == DeviceTransport::nccl ? "nccl" : "host";
}

namespace {

/// Why NCCL is not used; nothing where it is. Asks the other ranks unless nobody wants it.
std::optional<std::string> reason_against_nccl(const HostSide& host, kernels::Device& device,
                                               comm::Communicator& world,
                                               const Connections::Settings& settings) {
  if (settings.wanted == DeviceTransport::host) return "as --transport says";
  if (world.size() == 1) return "one rank sends nothing";
  const auto library = settings.nccl();
  const auto places =
      comm::gather_places(world, {.host = host.host,
                                  .bus_id = device.bus_id(),
                                  .device = device.name(),
                                  .problem = library ? "" : library.error().message});
  auto reason = comm::why_not_nccl(places);
  if (reason && settings.wanted == DeviceTransport::nccl) throw Failure(*reason);
  return reason;
}

}  // namespace

Connections::Connections(const HostSide& host, kernels::Device* device, kernels::Trace& trace,
                         const Settings& settings) {
  if (device) {
    connect_devices(host, *device, trace, settings);
  } else {
    set_ = host.make_groups(trace);
    transport_ = host.transport;
  }
}

Connections::~Connections() {
  set_ = {};  // before what it stands on
}

void Connections::connect_devices(const HostSide& host, kernels::Device& device,
                                  kernels::Trace& trace, const Settings& settings) {
  comm::GroupSet of_host = host.make_groups(no_trace_);
  blocks_.emplace(device);
  if (const auto reason = reason_against_nccl(host, device, *of_host.world, settings))
    return go_by_the_host(host, device, std::move(of_host), trace, *reason);
  const comm::NcclPlugin& library = **settings.nccl();
  nccl_.emplace(library.api, device, host.endpoint, comm::NcclPlace{host.rank, host.host});
  set_ = comm::make_nccl_groups(*nccl_, *blocks_, std::move(of_host), settings.ranks, trace,
                                settings.groups);
  transport_ = "nccl";
  note_ = fmt::format("tensors travel over NCCL {}", comm::nccl_version_text(library.nccl_version));
}

void Connections::go_by_the_host(const HostSide& host, kernels::Device& device,
                                 comm::GroupSet of_host, kernels::Trace& trace,
                                 const std::string& reason) {
  set_ = comm::make_staged_groups(device, *blocks_, host.endpoint, std::move(of_host), trace);
  transport_ = host.transport + ", staged";
  note_ = fmt::format("tensors travel by way of the host ({})", reason);
}

}  // namespace cpplan::train
