#include "checkpoint/safetensors.hpp"

#include <doctest/doctest.h>

#include "base/files.hpp"
#include "checkpoint/file_set.hpp"
#include "support/temporary_folder.hpp"

namespace cpplan::checkpoint {
namespace {

std::string file_of(const std::string& header, std::size_t data_bytes) {
  std::string file;
  for (int i = 0; i < 8; ++i) file += static_cast<char>(header.size() >> (8 * i));
  return file + header + std::string(data_bytes, '\0');
}

std::string why_not(const std::string& content) {
  const test::TemporaryFolder folder;
  REQUIRE(write_file_atomically(folder / "x", content));
  const auto read = read_safetensors_header(folder / "x");
  return read ? "" : read.error().message;
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != message.npos;
}

}  // namespace

TEST_CASE("safetensors: a header that we write reads back with the places of its tensors") {
  const test::TemporaryFolder folder;
  std::vector<StoredTensor> tensors = {{"b.weight", ElementType::f32, {3, 5}},
                                       {"a \"quoted\"", ElementType::bf16, {7}},
                                       {"c", ElementType::f64, {1, 2}}};
  const std::string header = safetensors_header(tensors);
  CHECK(header.size() % 8 == 0);
  CHECK(tensors[0].begin == Bytes{std::ssize(header)});
  CHECK(tensors[1].begin == tensors[0].begin + Bytes{60});
  CHECK(tensors[2].begin == tensors[1].begin + Bytes{14});
  REQUIRE(write_file_atomically(folder / "x", header + std::string(60 + 14 + 16, 'x')));
  const auto read = read_safetensors_header(folder / "x");
  REQUIRE(read);
  REQUIRE(read->size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK((*read)[i].name == tensors[i].name);
    CHECK((*read)[i].type == tensors[i].type);
    CHECK((*read)[i].shape == tensors[i].shape);
    CHECK((*read)[i].begin == tensors[i].begin);
  }
}

TEST_CASE("safetensors: the example of the format's own page is read") {
  const std::string header =
      R"({"TENSOR_NAME":{"dtype":"F16","shape":[1,16,256],"data_offsets":[0,8192]}})";
  CHECK(why_not(file_of(header, 8192)) == "");
}

TEST_CASE("safetensors: what is no header says why") {
  CHECK(says(why_not("short"), "shorter than the length"));
  CHECK(says(why_not(file_of("{}", 0).substr(0, 9)), "would have 2 bytes"));
  CHECK(says(why_not(std::string(16, '\xff')), "would have"));
  CHECK(says(why_not(file_of("[1, 2]", 0)), "no JSON object"));
  const auto entry = [](const std::string& type, const std::string& shape,
                        const std::string& offsets) {
    return file_of("{\"t\":{\"dtype\":\"" + type + "\",\"shape\":" + shape +
                       ",\"data_offsets\":" + offsets + "}}",
                   16);
  };
  CHECK(why_not(entry("F32", "[4]", "[0,16]")) == "");
  CHECK(says(why_not(entry("I64", "[2]", "[0,16]")), "I64, which is not read"));
  CHECK(says(why_not(entry("F32", "[-4]", "[0,16]")), "no shape"));
  CHECK(says(why_not(entry("F32", "[5]", "[0,20]")), "leaves the file"));
  CHECK(says(why_not(entry("F32", "[3]", "[0,16]")), "not its shape"));
  CHECK(says(why_not(entry("F32", "[4]", "[4,0]")), "leaves the file"));
  CHECK(says(why_not(entry("F32", "[4611686018427387904,4]", "[0,0]")), "not its shape"));
  CHECK(says(why_not(file_of(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                             R"("b":{"dtype":"F32","shape":[2],"data_offsets":[4,12]}})",
                             16)),
             "lies on"));
}

TEST_CASE("file set: files hold whole tensors and stay below their limit") {
  const std::vector<StoredTensor> tensors = {{"a", ElementType::f32, {10}},
                                             {"b", ElementType::f32, {10}},
                                             {"c", ElementType::f32, {100}},
                                             {"d", ElementType::f32, {1}}};
  FileSet set;
  set.add("model", tensors, Bytes{80});
  REQUIRE(set.files().size() == 3);
  CHECK(set.files()[0].name == "model-00001-of-00003.safetensors");
  CHECK(set.place("b").file == 0);
  CHECK(set.place("c").file == 1);  // larger than the limit, and alone
  CHECK(set.place("d").file == 2);
  for (const PlannedFile& file : set.files())
    CHECK(file.size == file.tensors.back().begin + file.tensors.back().bytes());
  const std::string index = index_of(set, "model");
  CHECK(says(index, "\"total_size\": 484"));
  CHECK(says(index, "\"c\": \"model-00002-of-00003.safetensors\""));
}

}  // namespace cpplan::checkpoint
