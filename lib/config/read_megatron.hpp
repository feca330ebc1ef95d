#pragma once
// Megatron's arguments, and ours beside them, into the TrainingConfig that is the same for every
// dialect.
#include "config/document.hpp"
#include "config/megatron_arguments.hpp"
#include "config/training_config.hpp"

namespace cpplan::config {

/// Values that do not read as their type are left out: check_megatron_keys has said why. Contract:
/// the root is a mapping.
TrainingConfig read_megatron(const Document& document, const std::string& file);

// Parts of it, one function an area.
void read_megatron_batch(TrainingConfig& config, const MegatronArguments& arguments);
void read_megatron_parallel(TrainingConfig& config, const MegatronArguments& arguments);
void read_megatron_model(TrainingConfig& config, const MegatronArguments& arguments);
void read_megatron_memory(TrainingConfig& config, const MegatronArguments& arguments);

}  // namespace cpplan::config
