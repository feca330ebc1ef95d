#pragma once
// Findings about settings that are about one another or about the range of one: batch and steps,
// required, renamed and exclusive keys. Of an axolotl config where nothing else is said.
#include "config/document.hpp"
#include "config/training_config.hpp"

namespace cpplan::config {

/// CP105, CP119 to CP121: sizes of a batch, counts of steps and epochs, val_set_size.
void check_batch(const Document& document, const TrainingConfig& config,
                 diag::Diagnostics& findings);

/// CP105: base_model, learning_rate and a dataset are there.
void check_required(const Document& document, const TrainingConfig& config,
                    diag::Diagnostics& findings);

/// CP113 to CP116, CP122: old names, keys that are gone, that exclude each other or do nothing.
void check_deprecated(const Document& document, diag::Diagnostics& findings);
void check_conflicts(const Document& document, const TrainingConfig& config,
                     diag::Diagnostics& findings);

/// CP105, CP119 of a Megatron config.
void check_megatron_settings(const TrainingConfig& config, diag::Diagnostics& findings);

}  // namespace cpplan::config
