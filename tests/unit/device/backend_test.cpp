// Which backend a run gets on a machine that has none of the plug-ins, or the wrong ones.
#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

#include "base/plugin.hpp"
#include "device/backend.hpp"
#include "support/temporary_folder.hpp"

namespace cpplan::device {
namespace {

/// CPPLAN_PLUGINS, while it lives.
class PluginsIn {
 public:
  explicit PluginsIn(const std::string& folder) { setenv("CPPLAN_PLUGINS", folder.c_str(), 1); }
  ~PluginsIn() { unsetenv("CPPLAN_PLUGINS"); }
  PluginsIn(const PluginsIn&) = delete;
  PluginsIn& operator=(const PluginsIn&) = delete;
};

std::string problem_with(const std::string& file, const char* entry) {
  const auto opened = open_plugin(file, entry);
  return opened ? "" : opened.error().message;
}

}  // namespace

TEST_CASE("plug-in: one that is nowhere is said to be in none of its folders") {
  const test::TemporaryFolder folder;
  const PluginsIn here(folder.path().string());
  const std::string problem = problem_with("libcpplan_none.so", "entry");
  CHECK(problem.find("there is no libcpplan_none.so in " + folder.path().string()) == 0);
  CHECK(problem.find("CPPLAN_PLUGINS") != std::string::npos);
}

TEST_CASE("plug-in: without a named folder it is beside the program or in its lib") {
  const auto folders = plugin_folders();
  REQUIRE(folders.size() == 2);
  CHECK(folders[1] == folders[0].parent_path() / "lib");
}

TEST_CASE("plug-in: a file that is no library cannot be opened") {
  const test::TemporaryFolder folder;
  const PluginsIn here(folder.path().string());
  std::ofstream(folder.path() / "libcpplan_none.so") << "not a library";
  CHECK(problem_with("libcpplan_none.so", "entry").find("cannot open ") == 0);
}

TEST_CASE("backend: without a plug-in automatic is the cpu and cuda is an error") {
  const test::TemporaryFolder empty;
  const PluginsIn here(empty.path().string());
  CHECK(choose_backend(BackendChoice::cpu) == Backend::cpu);
  CHECK(choose_backend(BackendChoice::automatic) == Backend::cpu);
  const auto cuda = choose_backend(BackendChoice::cuda);
  REQUIRE(!cuda);
  CHECK(cuda.error().message.find("there is no libcpplan_cuda.so") == 0);
}

}  // namespace cpplan::device
