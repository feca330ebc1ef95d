#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "checkpoint/lock.hpp"
#include "checkpoint/tensor_files.hpp"
#include "checkpoint/verify.hpp"
#include "support/temporary_folder.hpp"
#include "unit/checkpoint/sample_checkpoint.hpp"

namespace cpplan::checkpoint {
namespace fs = std::filesystem;
using test::TemporaryFolder;
namespace {

void flip_bit(const fs::path& path, Index at) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(at);
  const char byte = static_cast<char>(file.get() ^ 4);
  file.seekp(at);
  file.put(byte);
}

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

std::vector<float> read_floats(const fs::path& step, std::string_view tensor, const Slice& slice) {
  const FileSet set = sample_files();
  const auto files = TensorFiles::open(step, std::vector{set.files()[0].name});
  REQUIRE(files);
  std::vector<float> values(static_cast<std::size_t>(slice.count), -1.0f);
  REQUIRE(files->read(tensor, slice, ElementType::f32, std::as_writable_bytes(std::span(values))));
  return values;
}

bool says(const std::string& message, std::string_view part) {
  return message.find(part) != message.npos;
}

/// Of the whole checkpoint, by as many workers.
std::vector<std::string> damage_by(int workers, const fs::path& step) {
  const auto manifest = read_manifest(step);
  REQUIRE(manifest);
  std::vector<std::string> all;
  for (int i = 0; i < workers; ++i)
    for (auto& line : damage_in(step, *manifest, {i, workers})) all.push_back(line);
  return all;
}

}  // namespace

TEST_CASE("checkpoint: slices of two ranks read back whole and cut otherwise") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step-3"});
  CHECK(names_in(step) == std::vector<std::string>{"config.json", "manifest.json",
                                                   "model-00001-of-00001.safetensors"});
  for (const Slice& slice : {sample_columns(0, 6), sample_columns(3, 2), sample_columns(1, 5)})
    CHECK(read_floats(step, "matrix", slice) == values_of(slice, 300));
  const Slice range{sample_columns(2, 3).shard, 4, 7};
  CHECK(read_floats(step, "matrix", range) == values_of(range, 300));
  CHECK(read_floats(step, "vector", sample_vector()) == values_of(sample_vector(), -300));
}

TEST_CASE("checkpoint: the manifest reads back") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  const auto manifest = read_manifest(step);
  REQUIRE(manifest);
  CHECK(manifest->step == 3);
  CHECK(manifest->run == "run");
  CHECK(manifest->plan_hash == 7);
  CHECK(manifest->files.size() == 2);
  REQUIRE(manifest->slices.size() == 3);
  CHECK(manifest->slices[2].tensor == "matrix");
  CHECK(manifest->slices[2].slice.shard.first_col == 4);
  CHECK(manifest->slices[2].slice.count == 10);
}

TEST_CASE("checkpoint: without a manifest a folder is incomplete") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  fs::remove(step / manifest_name);
  const auto manifest = read_manifest(step);
  REQUIRE_FALSE(manifest);
  CHECK(says(manifest.error().message, "step-3 is no complete checkpoint (cannot read"));
}

TEST_CASE("checkpoint: a truncated file is found by its size") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  const auto file = step / sample_files().files()[0].name;
  fs::resize_file(file, fs::file_size(file) - 1);
  const auto manifest = read_manifest(step);
  REQUIRE_FALSE(manifest);
  CHECK(says(manifest.error().message, "model-00001-of-00001.safetensors has"));
}

TEST_CASE("checkpoint: a flipped bit is found wherever it is") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  CHECK(damage_by(1, step).empty());
  CHECK(damage_by(3, step).empty());
  const FileSet set = sample_files();
  const PlannedFile& planned = set.files()[0];
  for (Index at = 0; at < planned.size.count; ++at) {
    flip_bit(step / planned.name, at);
    const auto damage = damage_by(at % 3 + 1, step);
    REQUIRE(damage.size() >= 1);
    if (at >= std::ssize(planned.header)) {
      CHECK(damage.size() == 1);
      CHECK(says(damage[0], "do not match their checksum"));
    }
    flip_bit(step / planned.name, at);
  }
  CHECK(damage_by(1, step).empty());
  flip_bit(step / "config.json", 3);
  CHECK(says(damage_by(2, step).at(0), "config.json do not match"));
}

TEST_CASE("checkpoint: damage names the tensor and its place") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  const FileSet set = sample_files();
  const Index begin = set.place("matrix").tensor.begin.count;
  flip_bit(step / set.files()[0].name, begin + 4 * 5);
  const std::string bytes =
      std::to_string(begin + 4 * 4) + "-" + std::to_string(begin + 4 * 30 - 1);
  const std::string expected = "model-00001-of-00001.safetensors: bytes " + bytes +
                               ", which have \"matrix\", rows 0-4 and columns 4-5, do not match "
                               "their checksum";
  CHECK(damage_by(1, step) == std::vector<std::string>{expected});
}

TEST_CASE("checkpoint: a manifest that has changed is none") {
  const TemporaryFolder folder;
  const auto step = write_sample(folder.path(), 3);
  auto text = read_file(step / manifest_name).value();
  text.replace(text.find("\"step\": 3"), 9, "\"step\": 4");
  REQUIRE(write_file_atomically(step / manifest_name, text));
  CHECK(says(read_manifest(step).error().message, "has changed since it was written"));
}

TEST_CASE("checkpoint: nothing is written over what is there") {
  const TemporaryFolder folder;
  const auto temporary = temporary_folder(folder.path(), 3, "run");
  REQUIRE(prepare_files(temporary, sample_files(), {}));
  CHECK(says(prepare_files(temporary, sample_files(), {}).error().message, "file exists"));
  fs::remove_all(temporary);
  const auto step = write_sample(folder.path(), 3);
  fs::remove(step / manifest_name);
  write_sample(folder.path(), 3);
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step-3", "step-3.replaced-by-run"});
  CHECK(read_manifest(step));
}

TEST_CASE("checkpoint folder: the newest complete ones stay") {
  const TemporaryFolder folder;
  for (const Index step : {20, 3, 100}) write_sample(folder.path(), step);
  CHECK(steps_in(folder.path()) == std::vector<Index>{100, 20, 3});
  fs::remove(step_folder(folder.path(), 100) / manifest_name);
  remove_old(folder.path(), {});
  CHECK(steps_in(folder.path()).size() == 3);
  remove_old(folder.path(), {.newest = 1});
  CHECK(names_in(folder.path()) == std::vector<std::string>{"step-100", "step-20"});
}

TEST_CASE("checkpoint folder: those of an interval stay beside the newest") {
  const TemporaryFolder folder;
  for (const Index step : {10, 20, 30, 40, 50}) write_sample(folder.path(), step);
  remove_old(folder.path(), {.newest = 1, .every = 20});
  CHECK(steps_in(folder.path()) == std::vector<Index>{50, 40, 20});
}

TEST_CASE("checkpoint folder: remains of killed runs go and all else stays") {
  const TemporaryFolder folder;
  for (const char* name : {"step-3", "step-4.tmp-a", "step-5.deleted", "step-6.replaced-by-b",
                           "notes.tmp-x", "step-x.tmp-y"})
    fs::create_directory(folder / name);
  remove_remains(folder.path());
  CHECK(names_in(folder.path()) ==
        std::vector<std::string>{"notes.tmp-x", "step-3", "step-6.replaced-by-b", "step-x.tmp-y"});
}

TEST_CASE("checkpoint folder: a second run is told who writes there") {
  const TemporaryFolder folder;
  {
    const auto first = FolderLock::take(folder / "new", "the-first");
    REQUIRE(first);
    const auto second = FolderLock::take(folder / "new", "the-second");
    REQUIRE_FALSE(second);
    CHECK(says(second.error().message, "run the-first of process " + std::to_string(::getpid())));
  }
  CHECK(FolderLock::take(folder / "new", "the-second"));
  CHECK(check_unlocked(folder / "new"));
}

}  // namespace cpplan::checkpoint
