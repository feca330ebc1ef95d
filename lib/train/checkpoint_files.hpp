#pragma once
// The files of a job's checkpoints: the same for every layout of the model.
#include <vector>

#include "checkpoint/write.hpp"
#include "engine/job.hpp"

namespace cpplan::train {

checkpoint::ElementType element_type_of(kernels::DType);

/// model-*.safetensors with the weights in the job's type, optimizer-*.safetensors with the rest of
/// what a run goes on from.
checkpoint::FileSet checkpoint_files(const engine::Job&);

/// What makes the folder a model for Hugging Face's library, too.
std::vector<checkpoint::SideFile> checkpoint_side_files(const engine::Job&,
                                                        const checkpoint::FileSet&);

}  // namespace cpplan::train
