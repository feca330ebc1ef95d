#include <fmt/format.h>

#include <algorithm>

#include "app/color.hpp"
#include "app/exit_code.hpp"
#include "app/subcommands.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "cluster/environment.hpp"
#include "comm/nccl_library.hpp"
#include "device/cuda.hpp"
#include "diag/render_json.hpp"
#include "diag/render_text.hpp"
#include "launch/doctor.hpp"

namespace cpplan::app {
namespace {
using launch::Examined;
using launch::Health;

constexpr std::string_view schema = "cpplan/doctor/1";

std::string line_of(const Examined& part) {
  std::string line = fmt::format("{:<8} {:<14} {}\n", name_of(part.health), part.what, part.found);
  if (!part.help.empty()) line += fmt::format("{:<23} {}\n", "", part.help);
  return line;
}

Json json_of(const Examined& part) {
  return Json::Object{{"what", part.what},
                      {"health", name_of(part.health)},
                      {"found", part.found},
                      {"help", part.help}};
}

Json document(const std::vector<Examined>& parts, const diag::Diagnostics& findings) {
  Json::Array examined;
  for (const Examined& part : parts) examined.push_back(json_of(part));
  return Json::Object{{"schema", schema},
                      {"examined", std::move(examined)},
                      {"diagnostics", diag::diagnostics_json(findings)}};
}

cluster::Site site_with_plugins() {
  cluster::Site site = cluster::this_site();
  if (const auto devices = device::cuda_devices())
    for (const auto& device : *devices)
      site.cuda_devices.push_back(fmt::format("{} ({})", device.name, human_bytes(device.memory)));
  else
    site.cuda_problem = devices.error().message;
  if (const auto library = comm::nccl_library())
    site.nccl_version = comm::nccl_version_text((*library)->nccl_version);
  else
    site.nccl_problem = library.error().message;
  return site;
}

}  // namespace

int doctor(const DoctorOptions& options) {
  const auto variables = cluster::read_environment(cluster::process_variables());
  const auto parts = launch::examine(site_with_plugins(), variables);
  if (options.format == DoctorFormat::json) {
    fmt::print("{}\n", document(parts, variables.findings).dump());
  } else {
    for (const Examined& part : parts) fmt::print("{}", line_of(part));
    fmt::print("{}", diag::render_text(variables.findings, {},
                                       color_of(Stream::standard_output, options.color)));
  }
  const bool ill = std::ranges::any_of(
      parts, [](const Examined& part) { return part.health == Health::problem; });
  return ill || diag::summarize(variables.findings).errors > 0 ? environment : ok;
}

}  // namespace cpplan::app
