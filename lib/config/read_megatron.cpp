#include "config/read_megatron.hpp"

#include "config/read_sections.hpp"

namespace cpplan::config {
namespace {

void read_optimizer(OptimizerSettings& o, const MegatronArguments& arguments) {
  arguments.read(o.learning_rate, "lr");
  arguments.read(o.lr_scheduler, "lr_decay_style");
  arguments.read(o.weight_decay, "weight_decay");
  arguments.read(o.adam_beta1, "adam_beta1");
  arguments.read(o.adam_beta2, "adam_beta2");
  arguments.read(o.adam_epsilon, "adam_eps");
  arguments.read(o.max_grad_norm, "clip_grad");
  arguments.read(o.optimizer, "optimizer");
  arguments.read(o.seed, "seed");
}

/// Of the test runner that turns MODEL_ARGS into a command line.
void read_environment(MegatronSettings& m, const Section& root) {
  root.below("ENV_VARS").read_word(m.cuda_device_max_connections, "CUDA_DEVICE_MAX_CONNECTIONS");
}

}  // namespace

TrainingConfig read_megatron(const Document& document, const std::string& file) {
  const MegatronArguments arguments(*document.root.node);
  const Section root(document.root.node, "");
  TrainingConfig config;
  config.file = file;
  config.dialect = Dialect::megatron;
  config.megatron.form = arguments.form();
  read_megatron_parallel(config, arguments);
  read_megatron_batch(config, arguments);
  read_megatron_model(config, arguments);
  read_megatron_memory(config, arguments);
  read_optimizer(config.optimizer, arguments);
  root.read(config.parallel.data_parallel_size, "data_parallel_size");
  read_environment(config.megatron, root);
  read_own_sections(config, root);
  return config;
}

}  // namespace cpplan::config
