#include "cluster/machine.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <fstream>

using namespace cpplan;
namespace fs = std::filesystem;

namespace {

/// A made-up root with the files that the kernel would show.
struct MadeUpMachine {
  fs::path root = fs::temp_directory_path() / ("cpplan-machine-test-" + std::to_string(::getpid()));
  MadeUpMachine() {
    fs::create_directories(root / "proc");
    fs::create_directories(root / "sys/fs/cgroup");
    write("proc/meminfo", "MemTotal:       1000 kB\nMemFree: 10 kB\nMemAvailable:    600 kB\n");
  }
  ~MadeUpMachine() { fs::remove_all(root); }
  void write(const char* file, const char* text) const { std::ofstream(root / file) << text; }
};

}  // namespace

TEST_CASE("machine: this one has a core and memory") {
  const auto machine = cluster::this_machine();
  REQUIRE(machine);
  CHECK(machine->cores >= 1);
  CHECK(machine->available_memory > Bytes{});
  CHECK(machine->available_memory <= machine->total_memory);
}

TEST_CASE("machine: memory is read in KiB") {
  const MadeUpMachine made_up;
  const auto machine = cluster::machine_below(made_up.root);
  REQUIRE(machine);
  CHECK(machine->total_memory == Bytes{1'024'000});
  CHECK(machine->available_memory == Bytes{614'400});
}

TEST_CASE("machine: a control group lowers both") {
  const MadeUpMachine made_up;
  made_up.write("sys/fs/cgroup/memory.max", "500000\n");
  made_up.write("sys/fs/cgroup/memory.current", "100000\n");
  const auto machine = cluster::machine_below(made_up.root);
  REQUIRE(machine);
  CHECK(machine->total_memory == Bytes{500'000});
  CHECK(machine->available_memory == Bytes{400'000});
}

TEST_CASE("machine: an unlimited control group changes nothing") {
  const MadeUpMachine made_up;
  made_up.write("sys/fs/cgroup/memory.max", "max\n");
  CHECK(cluster::machine_below(made_up.root)->total_memory == Bytes{1'024'000});
}

TEST_CASE("machine: no meminfo is an error that names the file") {
  const MadeUpMachine made_up;
  made_up.write("proc/meminfo", "nothing\n");
  const auto machine = cluster::machine_below(made_up.root);
  REQUIRE_FALSE(machine);
  CHECK(machine.error().message.find("proc/meminfo") != std::string::npos);
}
