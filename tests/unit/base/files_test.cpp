#include "base/files.hpp"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "support/temporary_folder.hpp"

namespace cpplan {
namespace {

namespace fs = std::filesystem;

using test::TemporaryFolder;

TEST_CASE("files: what is written reads back byte for byte") {
  const TemporaryFolder folder;
  const std::string content("a\0b\r\n\xff", 6);
  REQUIRE(write_file_atomically(folder / "x", content));
  CHECK(read_file(folder / "x").value() == content);
}

TEST_CASE("files: an old file is replaced and no temporary one stays") {
  const TemporaryFolder folder;
  REQUIRE(write_file_atomically(folder / "x", std::string(100'000, 'a')));
  REQUIRE(write_file_atomically(folder / "x", "new"));
  CHECK(read_file(folder / "x").value() == "new");
  CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("files: the mode follows the umask") {
  const TemporaryFolder folder;
  const mode_t before = ::umask(022);
  REQUIRE(write_file_atomically(folder / "x", "text"));
  ::umask(before);
  struct stat status {};
  REQUIRE(::stat((folder / "x").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0644);
}

TEST_CASE("files: failures name the file and the reason") {
  const TemporaryFolder folder;
  const auto missing = read_file(folder / "none");
  REQUIRE_FALSE(missing);
  CHECK(missing.error().message ==
        "cannot read " + (folder / "none").string() + " (no such file or directory)");
  const auto is_folder = read_file(folder.path());
  REQUIRE_FALSE(is_folder);
  CHECK(is_folder.error().message.find("is a directory") != std::string::npos);
  const auto unwritable = write_file_atomically(folder / "no/such/folder", "x");
  REQUIRE_FALSE(unwritable);
  CHECK(unwritable.error().message.starts_with("cannot write "));
}

}  // namespace
}  // namespace cpplan
