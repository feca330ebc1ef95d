// A page about a site is read from facts that a test can make up.
#include "launch/doctor.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace cpplan::launch {
namespace {

cluster::Site healthy() {
  cluster::Site site;
  site.host = "node1";
  site.machine = cluster::Machine{16, Bytes{Index{128} << 30}, Bytes{Index{100} << 30}};
  site.mpirun = cluster::Program{"/usr/bin/mpirun", "mpirun (Open MPI) 4.1.4"};
  site.shared_memory = cluster::SharedMemory{Bytes{Index{64} << 30}, Bytes{Index{64} << 30}};
  site.limits.open_files = 65536;
  return site;
}

Examined part(const std::vector<Examined>& parts, std::string_view what) {
  const auto found = std::ranges::find(parts, what, &Examined::what);
  REQUIRE(found != parts.end());
  return *found;
}

Examined part_of(const cluster::Site& site, std::string_view what,
                 const cluster::Environment& environment = {}) {
  return part(examine(site, environment), what);
}

TEST_CASE("doctor: devices of the plug-in and GPUs that it does not reach") {
  cluster::Site site = healthy();
  site.cuda_problem = "there is no libcpplan_cuda.so";
  CHECK(part_of(site, "GPUs").help.empty());  // nobody misses it where there is no GPU
  site.gpus = 2, site.driver_version = "570.1", site.driver_library = true;
  CHECK(part_of(site, "GPUs").health == Health::concern);
  CHECK(part_of(site, "GPUs").help == site.cuda_problem);
  site.cuda_devices = {"H100 (80 GiB)", "H100 (80 GiB)"}, site.cuda_problem = "";
  CHECK(part_of(site, "GPUs").health == Health::good);
  CHECK(part_of(site, "GPUs").found == "2 for ranks: H100 (80 GiB), H100 (80 GiB)");
}

TEST_CASE("doctor: nothing is wrong with a laptop") {
  for (const Examined& examined : examine(healthy(), {})) {
    CAPTURE(examined.what);
    CHECK(examined.health == Health::good);
    CHECK(examined.help.empty());
    CHECK_FALSE(examined.found.empty());
  }
}

TEST_CASE("doctor: no mpirun and another one") {
  auto site = healthy();
  site.mpirun.reset();
  CHECK(part_of(site, "MPI").health == Health::problem);
  site.mpirun = cluster::Program{"/opt/mpich/bin/mpirun", "HYDRA build details:"};
  CHECK(part_of(site, "MPI").health == Health::concern);
}

TEST_CASE("doctor: SLURM's ranks need PMIx") {
  auto site = healthy();
  cluster::Environment allocation;
  allocation.tasks_per_node = {4, 4};
  CHECK(part_of(site, "launcher", allocation).health == Health::problem);
  site.srun = cluster::Program{"/usr/bin/srun", "slurm-wlm 22.05.8"};
  site.srun_mpi_types = "none\npmi2\n";
  CHECK(part_of(site, "launcher", allocation).health == Health::concern);
  site.srun_mpi_types += "pmix\n";
  CHECK(part_of(site, "launcher", allocation).health == Health::good);
}

TEST_CASE("doctor: a device without its driver library and GPUs without NCCL") {
  auto site = healthy();
  site.gpus = 8;
  site.driver_version = "550.54.15";
  CHECK(part_of(site, "GPUs").health == Health::problem);
  CHECK(part_of(site, "NCCL").health == Health::concern);
  site.driver_library = site.nccl_library = true;
  CHECK(part_of(site, "GPUs").health == Health::good);
  site.nccl_problem = "there is no libcpplan_nccl.so";
  CHECK(part_of(site, "NCCL").health == Health::concern);
  CHECK(part_of(site, "NCCL").help == site.nccl_problem);
  site.nccl_version = "2.28.9";
  CHECK(part_of(site, "NCCL").health == Health::good);
  site.gpus = 0;
  CHECK(part_of(site, "GPUs").health == Health::concern);
}

TEST_CASE("doctor: shared memory of a container is too small for the ranks of a node") {
  auto site = healthy();
  site.shared_memory->available = Bytes{Index{32} << 20};
  CHECK(part_of(site, "shared memory").health == Health::problem);
  CHECK(part_of(site, "shared memory").help.find("16 ranks need 64") == 0);
  site.machine->cores = 4;
  CHECK(part_of(site, "shared memory").health == Health::good);  // 8 ranks of 4 MiB
  site.shared_memory.reset();
  CHECK(part_of(site, "shared memory").health == Health::problem);
}

TEST_CASE("doctor: limits that a job inherits") {
  auto site = healthy();
  site.limits.open_files = 256;
  site.limits.locked_memory = Bytes{64 << 10};
  site.shares_address_spaces = false;
  CHECK(part_of(site, "open files").health == Health::concern);
  CHECK(part_of(site, "locked memory").health == Health::good);
  CHECK(part_of(site, "messages").health == Health::concern);
  site.infiniband = true;
  CHECK(part_of(site, "locked memory").health == Health::concern);
}

TEST_CASE("doctor: the world is what the launcher says") {
  cluster::Environment environment;
  environment.ranks = cluster::RankCount{16, "SLURM_NTASKS"};
  CHECK(part_of(healthy(), "world", environment).found == "16 ranks, says SLURM_NTASKS");
}

}  // namespace
}  // namespace cpplan::launch
