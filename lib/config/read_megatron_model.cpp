// Megatron's arguments about the model.
#include "config/read_megatron.hpp"

namespace cpplan::config {
namespace {

void read_dimensions(TrainingConfig& config, const MegatronArguments& a) {
  ModelSettings& d = config.model;
  MegatronSettings& m = config.megatron;
  a.read(d.num_hidden_layers, "encoder_num_layers");
  a.read(d.num_hidden_layers, "num_layers");
  a.read(d.hidden_size, "hidden_size");
  a.read(d.num_attention_heads, "num_attention_heads");
  a.read(d.num_key_value_heads, "num_query_groups");
  a.read(d.head_dim, "kv_channels");
  a.read(d.intermediate_size, "ffn_hidden_size");
  a.read(d.vocab_size, "vocab_size");
  a.read(m.max_position_embeddings, "max_position_embeddings");
  a.read(m.make_vocab_size_divisible_by, "make_vocab_size_divisible_by");
  a.read(m.padded_vocab_size, "padded_vocab_size");
  a.read(m.linear_num_key_heads, "linear_num_key_heads");
  a.read(m.linear_num_value_heads, "linear_num_value_heads");
}

void read_rotation(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.use_rope_scaling, "use_rope_scaling");
  a.read(m.rope_scaling_factor, "rope_scaling_factor");
  a.read(m.rotary_seq_len_interpolation_factor, "rotary_seq_len_interpolation_factor");
  a.read(m.rotary_percent, "rotary_percent");
}

void read_numbers(ModelSettings& d, const MegatronArguments& a) {
  a.read(d.rope_theta, "rotary_base");
  a.read(d.rms_norm_eps, "layernorm_epsilon");
  a.read(d.rms_norm_eps, "norm_epsilon");
  a.read(d.attention_dropout, "attention_dropout");
  a.read(d.hidden_dropout, "hidden_dropout");
  a.read(d.initializer_range, "init_method_std");
}

/// The flag --swiglu, or in the nested form the fields that it sets.
void read_activation(MegatronSettings& m, const MegatronArguments& a) {
  if (a.form() != MegatronForm::nested) return a.read(m.swiglu, "swiglu");
  a.read(m.swiglu, "gated_linear_unit");
  const MegatronArgument* function = a.find("activation_func");
  if (function == nullptr || function->member->value.node->text != "swiglu") return;
  m.swiglu = {true, function->member->value.span, function->member->key_span, function->key};
}

void read_traits(MegatronSettings& m, const MegatronArguments& a) {
  read_activation(m, a);
  a.read(m.group_query_attention, "group_query_attention");
  a.read(m.untie_embeddings, "untie_embeddings_and_output_weights");
  a.read(m.add_bias_linear, "add_bias_linear");
  a.read_inverted(m.add_bias_linear, "disable_bias_linear");
  a.read(m.add_qkv_bias, "add_qkv_bias");
  a.read(m.qk_layernorm, "qk_layernorm");
  a.read(m.apply_layernorm_1p, "layernorm_zero_centered_gamma");
  a.read(m.apply_layernorm_1p, "apply_layernorm_1p");
  a.read(m.use_flash_attention, "use_flash_attn");
  a.read_word(m.position_embedding_type, "position_embedding_type");
  a.read_word(m.normalization, "normalization");
  a.read(m.window_size, "window_size");
  a.read_word(m.window_attn_skip_freq, "window_attn_skip_freq");
  a.read_word(m.transformer_impl, "transformer_impl");
  a.read_word(m.hybrid_pattern, "hybrid_override_pattern");
  a.read_word(m.hybrid_pattern, "hybrid_layer_pattern");
}

void read_experts(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.num_experts, "num_moe_experts");
  a.read(m.num_experts, "num_experts");
  a.read(m.moe_router_topk, "moe_router_topk");
  a.read(m.moe_router_num_groups, "moe_router_num_groups");
  a.read(m.moe_ffn_hidden_size, "moe_ffn_hidden_size");
  a.read(m.moe_shared_expert_size, "moe_shared_expert_intermediate_size");
  a.read_word(m.moe_layer_freq, "moe_layer_freq");
  a.read_word(m.moe_token_dispatcher, "moe_token_dispatcher_type");
}

void read_latent_attention(MegatronSettings& m, const MegatronArguments& a) {
  a.read(m.multi_latent_attention, "multi_latent_attention");
  a.read(m.q_lora_rank, "q_lora_rank");
  a.read(m.kv_lora_rank, "kv_lora_rank");
  a.read(m.qk_head_dim, "qk_head_dim");
  a.read(m.qk_pos_emb_head_dim, "qk_pos_emb_head_dim");
  a.read(m.v_head_dim, "v_head_dim");
}

}  // namespace

void read_megatron_model(TrainingConfig& config, const MegatronArguments& arguments) {
  read_dimensions(config, arguments);
  read_numbers(config.model, arguments);
  read_rotation(config.megatron, arguments);
  read_traits(config.megatron, arguments);
  read_experts(config.megatron, arguments);
  read_latent_attention(config.megatron, arguments);
}

}  // namespace cpplan::config
