#include "cluster/site.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include "base/files.hpp"
#include "base/text.hpp"

namespace cpplan::cluster {
namespace {
namespace fs = std::filesystem;

std::optional<std::string> find_in_path(std::string_view name) {
  const char* path = std::getenv("PATH");
  std::string_view folders = path ? path : "";
  while (!folders.empty()) {
    const auto colon = std::min(folders.find(':'), folders.size());
    const fs::path file = fs::path(folders.substr(0, colon)) / name;
    if (access(file.c_str(), X_OK) == 0) return file.string();
    folders.remove_prefix(std::min(colon + 1, folders.size()));
  }
  return std::nullopt;
}

/// What a command prints; one that does not end within some seconds is ended.
std::string output_of(const std::string& command) {
  struct Close {
    void operator()(std::FILE* pipe) const { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(
      popen(fmt::format("timeout 5 {} 2>&1 </dev/null", command).c_str(), "r"));
  if (!pipe) return "";
  std::string text;
  std::array<char, 4096> part;
  while (const auto n = std::fread(part.data(), 1, part.size(), pipe.get()))
    text.append(part.data(), n);
  return text;
}

std::optional<Program> find_program(std::string_view name) {
  const auto path = find_in_path(name);
  if (!path) return std::nullopt;
  const std::string text = output_of(fmt::format("'{}' --version", *path));
  return Program{*path, std::string(trimmed(text.substr(0, text.find('\n'))))};
}

std::optional<SharedMemory> shared_memory() {
  struct statvfs shm {};
  if (statvfs("/dev/shm", &shm) != 0) return std::nullopt;
  const auto block = static_cast<Index>(shm.f_frsize);
  return SharedMemory{Bytes{static_cast<Index>(shm.f_blocks) * block},
                      Bytes{static_cast<Index>(shm.f_bavail) * block}};
}

std::optional<Index> soft_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return std::nullopt;
  if (limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<Index>(limit.rlim_cur);
}

Limits limits() {
  Limits limits{soft_limit(RLIMIT_NOFILE), soft_limit(RLIMIT_NPROC), std::nullopt};
  if (const auto bytes = soft_limit(RLIMIT_MEMLOCK)) limits.locked_memory = Bytes{*bytes};
  return limits;
}

/// /dev/nvidia0, /dev/nvidia1, ...
Index count_gpus() {
  Index gpus = 0;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    const std::string name = entry.path().filename().string();
    constexpr std::string_view prefix = "nvidia";
    if (name.starts_with(prefix) && name.size() > prefix.size() &&
        std::isdigit(static_cast<unsigned char>(name[prefix.size()])))
      ++gpus;
  }
  return gpus;
}

/// "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.15  ..." -> "550.54.15"
std::string driver_version() {
  const auto text = read_file("/proc/driver/nvidia/version");
  if (!text) return "";
  constexpr std::string_view before = "Kernel Module";
  const auto at = text->find(before);
  if (at == text->npos) return "";
  const auto version = trimmed(std::string_view(*text).substr(at + before.size()));
  return std::string(version.substr(0, version.find(' ')));
}

bool can_load(const char* library) {
  void* handle = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (handle) dlclose(handle);
  return handle != nullptr;
}

bool shares_address_spaces() {
  const auto scope = read_file("/proc/sys/kernel/yama/ptrace_scope");
  return !scope || trimmed(*scope) == "0" || geteuid() == 0;
}

}  // namespace

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string srun_mpi_types() {
  return find_in_path("srun") ? output_of("srun --mpi=list") : "";
}

bool has_infiniband() {
  std::error_code ignored;
  return fs::exists("/dev/infiniband", ignored);
}

Site this_site() {
  Site site;
  site.host = host_name();
  if (const auto machine = this_machine()) site.machine = *machine;
  site.mpirun = find_program("mpirun");
  site.srun = find_program("srun");
  site.sbatch = find_program("sbatch");
  site.srun_mpi_types = cluster::srun_mpi_types();
  site.shared_memory = shared_memory();
  site.limits = limits();
  site.gpus = count_gpus();
  site.driver_version = driver_version();
  site.driver_library = can_load("libcuda.so.1");
  site.nccl_library = can_load("libnccl.so.2");
  site.infiniband = has_infiniband();
  site.shares_address_spaces = shares_address_spaces();
  return site;
}

}  // namespace cpplan::cluster
