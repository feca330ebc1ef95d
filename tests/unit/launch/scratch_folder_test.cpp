#include <doctest/doctest.h>

#include <chrono>

#include "launch/scratch_folder.hpp"

using namespace cpplan::launch;
namespace fs = std::filesystem;

TEST_CASE("scratch folder: what a killed launcher left is removed and what is in use stays") {
  const auto in_use = ScratchFolder::create();
  REQUIRE(in_use);
  const fs::path used = in_use->folder().path;
  const fs::path left = used.parent_path() / "cpplan-unused";
  const fs::path fresh = used.parent_path() / "cpplan-recent";
  const fs::path foreign = used.parent_path() / "cpplan-others";
  for (const char* inside : {"segments", "session"})
    fs::create_directories(left / inside), fs::create_directories(fresh / inside);
  fs::create_directories(foreign / "segments");
  const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(left, long_ago);
  fs::last_write_time(used, long_ago);
  fs::last_write_time(foreign, long_ago);
  REQUIRE(ScratchFolder::create());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(fresh));
  CHECK(fs::exists(foreign));
  CHECK(fs::exists(in_use->folder().session()));
  fs::remove_all(fresh), fs::remove_all(foreign);
}
