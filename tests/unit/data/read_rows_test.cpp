#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "data/sample_source.hpp"

namespace cpplan::data {
namespace {
namespace fs = std::filesystem;

/// A folder of its own that is gone afterwards.
class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("cpplan-data-" + std::to_string(getpid()))) {
    fs::create_directory(path_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path_); }

  std::string write(const fs::path& name, const std::string& content) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name, std::ios::binary) << content;
    return (path_ / name).string();
  }
  std::string path() const { return path_.string(); }

 private:
  fs::path path_;
};

std::vector<std::string> texts(const Result<Rows>& rows) {
  REQUIRE(rows);
  std::vector<std::string> texts;
  for (const auto& row : *rows) texts.emplace_back(row.begin(), row.end());
  return texts;
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

using Texts = std::vector<std::string>;

TEST_CASE("a document is cut into rows and a row of one token is dropped") {
  const Folder folder;
  CHECK(texts(read_rows({folder.write("a.txt", "abcdefgh")}, 3)) == Texts{"abc", "def", "gh"});
  CHECK(texts(read_rows({folder.write("b.txt", "abcdefg")}, 3)) == Texts{"abc", "def"});
}

TEST_CASE("any bytes are text") {
  const Folder folder;
  const std::string bytes("\0\xff\r\n\x80", 5);
  CHECK(texts(read_rows({folder.write("bytes.txt", bytes)}, 8)) == Texts{bytes});
}

TEST_CASE("a folder stands for its text files in sorted order") {
  const Folder folder;
  folder.write("b.md", "from b.md");
  folder.write("a/z.CPP", "from a/z.CPP");
  folder.write("a/CMakeLists.txt", "from a/CMakeLists.txt");
  folder.write("weights.bin", "not text");
  folder.write(".hidden.md", "hidden file");
  folder.write(".git/notes.md", "hidden folder");
  folder.write("a/build/log.txt", "build folder");
  CHECK(texts(read_rows({folder.path()}, 64)) ==
        Texts{"from a/CMakeLists.txt", "from a/z.CPP", "from b.md"});
}

TEST_CASE("a hidden folder that is named is read") {
  const Folder folder;
  folder.write(".notes/a.md", "text");
  CHECK(texts(read_rows({folder.path() + "/.notes"}, 64)) == Texts{"text"});
}

TEST_CASE("JSONL has a document a line") {
  const Folder folder;
  const auto file =
      folder.write("rows.jsonl",
                   "{\"id\": 7, \"text\": \"caf\\u00e9\"}\r\n"
                   "\n"
                   "{\"messages\": [{\"role\": \"user\", \"content\": \"hi\"}], \"n\": 1}\n"
                   "{\"n\": 1}\n"
                   "\"bare\"");
  CHECK(texts(read_rows({file}, 64)) == Texts{"caf\xc3\xa9", "user\nhi", "bare"});
}

TEST_CASE("a line that is not JSON is named by file and line") {
  const Folder folder;
  const auto file = folder.write("rows.jsonl", "{\"text\": \"ok\"}\n\n{\"text\": oops}\n");
  const auto rows = read_rows({file}, 64);
  REQUIRE_FALSE(rows);
  CHECK(contains(rows.error().message, file + ":3: the line is not JSON"));
}

TEST_CASE("a path that is not there and a folder without text are errors") {
  const Folder folder;
  const std::string missing = folder.path() + "/missing";
  CHECK(read_rows({missing}, 8).error().message ==
        "cannot read " + missing + " (no such file or directory)");
  folder.write("weights.bin", "not text");
  CHECK(contains(read_rows({folder.path()}, 8).error().message, "no text in " + folder.path()));
  CHECK(contains(read_rows({folder.write("empty.txt", "")}, 8).error().message, "no text in "));
  CHECK(contains(read_rows({}, 8).error().message, "no text"));
  CHECK(contains(read_rows({folder.write("a.txt", "ab")}, 1).error().message, "use 2 or more"));
}

}  // namespace
}  // namespace cpplan::data
