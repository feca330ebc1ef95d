#include "train/checkpoint_files.hpp"

#include "checkpoint/model_folder.hpp"
#include "engine/snapshot.hpp"

namespace cpplan::train {
namespace {
using checkpoint::ElementType;
using checkpoint::StoredTensor;

constexpr std::string_view weights = "model", optimizer = "optimizer";

StoredTensor stored(const engine::TensorSpec& tensor, const std::string& suffix, ElementType type) {
  StoredTensor result{.name = tensor.name + suffix, .type = type};
  if (tensor.rows == 1)
    result.shape = {tensor.cols};
  else
    result.shape = {tensor.rows, tensor.cols};
  return result;
}

}  // namespace

ElementType element_type_of(kernels::DType type) {
  switch (type) {
    case kernels::DType::bf16:
      return ElementType::bf16;
    case kernels::DType::f32:
      return ElementType::f32;
    case kernels::DType::f64:
      return ElementType::f64;
    case kernels::DType::i32:
      break;
  }
  expect(false, "weights are floating-point numbers");
  return ElementType::f32;
}

checkpoint::FileSet checkpoint_files(const engine::Job& job) {
  const ElementType values = element_type_of(job.dtype);
  const ElementType sums = element_type_of(kernels::accumulator(job.dtype));
  std::vector<StoredTensor> model, state;
  for (const engine::TensorSpec& tensor : engine::model_tensors(job.model)) {
    model.push_back(stored(tensor, "", values));
    if (values != sums) state.push_back(stored(tensor, engine::master_suffix, sums));
    state.push_back(stored(tensor, engine::first_moment_suffix, sums));
    state.push_back(stored(tensor, engine::second_moment_suffix, sums));
  }
  checkpoint::FileSet files;
  files.add(weights, model);
  files.add(optimizer, state);
  return files;
}

std::vector<checkpoint::SideFile> checkpoint_side_files(const engine::Job& job,
                                                        const checkpoint::FileSet& files) {
  return {{std::string(checkpoint::config_name),
           checkpoint::hf_config(job.model, element_type_of(job.dtype))},
          {std::string(checkpoint::weights_index_name), checkpoint::index_of(files, weights)}};
}

}  // namespace cpplan::train
