#include "train/restore.hpp"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "base/failure.hpp"
#include "checkpoint/model_folder.hpp"
#include "checkpoint/tensor_files.hpp"
#include "engine/snapshot.hpp"
#include "train/checkpoint_files.hpp"
#include "train/snapshot.hpp"

namespace cpplan::train {
namespace fs = std::filesystem;
namespace {
using checkpoint::TensorFiles;

/// Which tensor of the files a part is read from.
std::string source_of(const TensorFiles& files, const engine::StatePart& part,
                      const std::string& parameter) {
  const std::string master = parameter + engine::master_suffix;
  const bool is_weight = part.name == parameter || part.name == master;
  if (!is_weight) return part.name;
  const auto* narrow = files.find(parameter);
  const bool same_type = narrow != nullptr && narrow->type == element_type_of(part.data.dtype);
  return !same_type && files.find(master) != nullptr ? master : parameter;
}

void load(const TensorFiles& files, const std::string& source, const engine::StatePart& part,
          kernels::Ops& ops) {
  std::vector<std::byte> host(static_cast<std::size_t>(part.data.bytes().count));
  const auto read = files.read(source, slice_of(part), element_type_of(part.data.dtype), host);
  if (!read) throw Failure(read.error().message);
  ops(kernels::Upload{part.data, host.data()});
}

std::vector<std::string> tensor_files_of(const checkpoint::Manifest& manifest) {
  std::vector<std::string> names;
  for (const auto& file : manifest.files)
    if (file.name.ends_with(".safetensors")) names.push_back(file.name);
  return names;
}

/// Tensors that other versions of the library store and that follow from the rest.
bool is_redundant(const std::string& name, const model::ModelSpec& model) {
  return name.ends_with("rotary_emb.inv_freq") ||
         (model.tie_word_embeddings && name == engine::output_tensor(model).name);
}

Result<void> check_names(const TensorFiles& files, const fs::path& folder,
                         const model::ModelSpec& model) {
  std::map<std::string, int> known;
  for (const auto& tensor : engine::model_tensors(model)) ++known[tensor.name];
  for (const std::string& name : files.names())
    if (!known.contains(name) && !is_redundant(name, model))
      return failure(
          fmt::format("{} has a tensor \"{}\", which the engine's model has not (it is of Llama's "
                      "type, without "
                      "biases). name a folder of such a model",
                      folder.string(), name));
  return {};
}

}  // namespace

Result<void> check_same_run(const TrainingRun& run, const fs::path& step_folder,
                            const checkpoint::Manifest& manifest) {
  const auto& then = manifest.data;
  const auto now = data_position(run, manifest.step);
  if (then == now) return {};
  const auto differ = [&](const std::string& what, const std::string& help) {
    return failure(
        fmt::format("{} is of another run ({}). {}; to begin a new run with its weights, "
                    "use base_model: {}",
                    step_folder.string(), what, help, step_folder.string()));
  };
  if (then.samples_per_step != now.samples_per_step) {
    const Index others = now.samples_per_step / run.job.micro_batches;
    const auto help =
        then.samples_per_step % others == 0
            ? fmt::format("use gradient_accumulation_steps: {}", then.samples_per_step / others)
            : fmt::format("use a layout whose DP x micro_batch_size divides {}",
                          then.samples_per_step);
    return differ(fmt::format("it takes {} samples a step, and this one {}", then.samples_per_step,
                              now.samples_per_step),
                  help);
  }
  if (then.seed != now.seed)
    return differ(fmt::format("its seed is {}, and this one's {}", then.seed, now.seed),
                  fmt::format("use seed: {}", then.seed));
  if (then.sequence_len != now.sequence_len)
    return differ(fmt::format("its sequence_len is {}, and this one's {}", then.sequence_len,
                              now.sequence_len),
                  fmt::format("use sequence_len: {}", then.sequence_len));
  return differ("it has read other data, or has packed it otherwise",
                "use the datasets that it was started with");
}

void load_checkpoint(const fs::path& step_folder, const checkpoint::Manifest& manifest,
                     kernels::Ops& ops, engine::Trainer& trainer) {
  const auto files = TensorFiles::open(step_folder, tensor_files_of(manifest));
  if (!files) throw Failure(files.error().message);
  for (const engine::Parameter& parameter : trainer.parameters())
    for (const engine::StatePart& part : engine::state_of(parameter))
      load(*files, source_of(*files, part, parameter.shard.name), part, ops);
  trainer.values_were_set();
}

void load_weights(const fs::path& folder, kernels::Ops& ops, const model::ModelSpec& model,
                  engine::Trainer& trainer) {
  load_weights(folder, ops, model, trainer.parameters());
  trainer.values_were_set();
}

void load_weights(const fs::path& folder, kernels::Ops& ops, const model::ModelSpec& model,
                  std::span<const engine::Parameter> parameters) {
  if (const auto right = check_weights(folder, model); !right) throw Failure(right.error().message);
  const auto files = TensorFiles::open_model(folder);
  if (!files) throw Failure(files.error().message);
  for (const engine::Parameter& parameter : parameters)
    for (const engine::StatePart& part : engine::state_of(parameter)) {
      const bool is_weight = part.name == parameter.shard.name ||
                             part.name == parameter.shard.name + engine::master_suffix;
      if (is_weight) load(*files, parameter.shard.name, part, ops);
    }
}

Result<void> check_weights(const fs::path& folder, const model::ModelSpec& model) {
  const auto files = TensorFiles::open_model(folder);
  if (!files) return tl::unexpected(files.error());
  if (auto known = check_names(*files, folder, model); !known) return known;
  for (const auto& tensor : engine::model_tensors(model)) {
    layout::TensorShard shard{.name = tensor.name, .rows = tensor.rows, .cols = tensor.cols};
    if (auto found = files->check(tensor.name, shard); !found) return found;
  }
  return {};
}

}  // namespace cpplan::train
