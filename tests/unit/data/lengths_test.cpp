#include "data/lengths.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

#include "data/length_readers.hpp"

namespace cpplan::data {
namespace {
namespace fs = std::filesystem;
using namespace std::string_literals;

template <class Number>
std::string bytes_of(std::initializer_list<Number> numbers) {
  std::string bytes;
  for (const Number number : numbers) {
    char raw[sizeof(Number)];
    std::memcpy(raw, &number, sizeof(Number));
    bytes.append(raw, sizeof(Number));
  }
  return bytes;
}

std::string npy(const std::string& type, const std::string& shape, const std::string& data) {
  const std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': " + shape + ", }\n";
  return "\x93NUMPY\x01"s + '\0' + bytes_of({static_cast<std::uint16_t>(header.size())}) + header +
         data;
}

/// Three sequences in two documents.
std::string current_idx() {
  return "MMIDIDX\0\0"s + bytes_of<std::uint64_t>({1}) + '\x04' + bytes_of<std::uint64_t>({3, 3}) +
         bytes_of<std::int32_t>({5, 7, 11}) + bytes_of<std::int64_t>({0, 20, 48}) +
         bytes_of<std::int64_t>({0, 2, 3});
}

std::string legacy_idx() {
  return "TNTIDX\0\0"s + bytes_of<std::uint64_t>({1, 4, 4, 3, 3, 3}) +
         bytes_of<std::int64_t>({0, 1, 2, 3}) + bytes_of<std::int64_t>({0, 5, 12, 23}) +
         bytes_of<std::int64_t>({5, 7, 11}) + bytes_of<std::int64_t>({0, 2, 3});
}

bool says(const Result<Lengths>& result, std::string_view part) {
  return !result && result.error().message.find(part) != std::string::npos;
}

struct Folder {
  fs::path path = fs::temp_directory_path() / ("cpplan_lengths_" + std::to_string(::getpid()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string file(const std::string& name, const std::string& content) const {
    std::ofstream(path / name, std::ios::binary) << content;
    return (path / name).string();
  }
};

TEST_CASE("lengths: a text has one integer a line") {
  CHECK(lengths_of_text("x", "6\n 4\r\n\n10").value() == Lengths{6, 4, 10});
  CHECK(lengths_of_text("x", "").value().empty());
  CHECK(says(lengths_of_text("x.txt", "6\n4.5\n"), "x.txt:2: \"4.5\" is no length"));
  CHECK(says(lengths_of_text("x.txt", "\n\n-1"), "x.txt:3: \"-1\""));
  CHECK(says(lengths_of_text("x.txt", "2147483648"), "from 0 to 2147483647"));
  CHECK(says(lengths_of_text("x.txt", "1\x1b[2J"), "\"1?[2J\""));
}

TEST_CASE("lengths: npy of every integer type and header version") {
  CHECK(lengths_of_npy("x", npy("<i8", "(2,)", bytes_of<std::int64_t>({6, 4}))).value() ==
        Lengths{6, 4});
  CHECK(lengths_of_npy("x", npy("<i4", "(2,)", bytes_of<std::int32_t>({6, 4}))).value() ==
        Lengths{6, 4});
  CHECK(lengths_of_npy("x", npy("<u8", "(1,)", bytes_of<std::uint64_t>({6}))).value() ==
        Lengths{6});
  CHECK(lengths_of_npy("x", npy("<u4", "( 1, )", bytes_of<std::uint32_t>({6}))).value() ==
        Lengths{6});
  CHECK(lengths_of_npy("x", npy("<u2", "(1,)", bytes_of<std::uint16_t>({60000}))).value() ==
        Lengths{60000});
  const std::string header = "{'descr': '<i8', 'fortran_order': False, 'shape': (1,), }";
  const std::string second = "\x93NUMPY\x02"s + '\0' +
                             bytes_of({static_cast<std::uint32_t>(header.size())}) + header +
                             bytes_of<std::int64_t>({9});
  CHECK(lengths_of_npy("x", second).value() == Lengths{9});
}

TEST_CASE("lengths: npy that is no array of lengths is refused") {
  CHECK(says(lengths_of_npy("x", npy("<f8", "(1,)", bytes_of<double>({1}))), "\"<f8\""));
  CHECK(says(lengths_of_npy("x", npy(">i8", "(1,)", bytes_of<std::int64_t>({1}))), "\">i8\""));
  CHECK(says(lengths_of_npy("x", npy("<i8", "(1, 1)", bytes_of<std::int64_t>({1}))), "dimension"));
  CHECK(says(lengths_of_npy("x", npy("<i8", "()", "")), "dimension"));
  CHECK(says(lengths_of_npy("x", npy("<i8", "(3,)", bytes_of<std::int64_t>({1, 2}))), "ends"));
  CHECK(says(lengths_of_npy("x", npy("<i8", "(9223372036854775807,)", "")), "ends"));
  CHECK(says(lengths_of_npy("x", npy("<i8", "(1,)", bytes_of<std::int64_t>({-1}))), "is -1"));
  CHECK(says(lengths_of_npy("x", npy("<i8", "(1,)", bytes_of<std::int64_t>({Index{1} << 31}))),
             "2147483648"));
  CHECK(says(lengths_of_npy("x", "\x93NUMPY\x09"), "header"));
}

TEST_CASE("lengths: both versions of Megatron's index give tokens of documents") {
  CHECK(lengths_of_idx("x", current_idx()).value() == Lengths{12, 11});
  CHECK(lengths_of_idx("x", legacy_idx()).value() == Lengths{12, 11});
}

TEST_CASE("lengths: an index that contradicts itself is refused") {
  CHECK(says(lengths_of_idx("x", "nothing"), "MMIDIDX"));
  std::string backwards = current_idx();
  backwards.replace(backwards.size() - 16, 8, bytes_of<std::int64_t>({9}));
  CHECK(says(lengths_of_idx("x", backwards), "sequences 0 to 9 of 3"));
  std::string negative = current_idx();
  negative.replace(34, 4, bytes_of<std::int32_t>({-5}));
  CHECK(says(lengths_of_idx("x", negative), "has -5 tokens"));
  std::string many = current_idx();
  many.replace(18, 8, bytes_of<std::uint64_t>({~std::uint64_t{0}}));
  CHECK(says(lengths_of_idx("x", many), "ends before"));
}

/// Cut anywhere, or with any bytes changed, a file is read or refused, and never read beyond.
TEST_CASE("lengths: damaged files do no harm") {
  const std::vector<std::string> whole = {npy("<i8", "(2,)", bytes_of<std::int64_t>({6, 4})),
                                          current_idx(), legacy_idx(), "12\n13\n14\n"};
  std::mt19937 random(1);
  const auto read = [](const std::string& content) {
    for (const auto& lengths : {lengths_of_npy("x", content), lengths_of_idx("x", content),
                                lengths_of_text("x", content)})
      if (lengths)
        for (const Length length : *lengths) REQUIRE(length >= 0);
  };
  for (const std::string& file : whole) {
    for (std::size_t end = 0; end < file.size(); ++end) read(file.substr(0, end));
    for (int round = 0; round < 3000; ++round) {
      std::string damaged = file;
      for (int change = 0; change < 3; ++change)
        damaged[random() % damaged.size()] = static_cast<char>(random());
      read(damaged);
    }
  }
}

TEST_CASE("lengths: a file is read by what it is") {
  const Folder folder;
  CHECK(read_lengths(folder.file("a.txt", "3\n4\n")).value().rows == Lengths{3, 4});
  CHECK(read_lengths(folder.file("a.npy", npy("<i4", "(1,)", bytes_of<std::int32_t>({8}))))
            .value()
            .rows == Lengths{8});
  CHECK(read_lengths(folder.file("a.idx", current_idx())).value().rows == Lengths{12, 11});
  const auto jsonl =
      read_lengths(folder.file("a.jsonl", "{\"text\": \"four\"}\n{\"text\": \"\"}\n"));
  REQUIRE(jsonl);
  CHECK(jsonl->rows == Lengths{4, 0});
  CHECK(jsonl->unit == LengthUnit::bytes);
}

TEST_CASE("lengths: what holds no row or is not there is an error") {
  const Folder folder;
  CHECK_FALSE(read_lengths(folder.file("empty.txt", "\n")));
  CHECK_FALSE(read_lengths(folder.file("empty.idx", "")));
  CHECK_FALSE(read_lengths((folder.path / "nowhere.txt").string()));
  const auto dataset = read_lengths(folder.path.string());
  REQUIRE_FALSE(dataset);
  CHECK(dataset.error().message.find("--lengths") != std::string::npos);
}

}  // namespace
}  // namespace cpplan::data
