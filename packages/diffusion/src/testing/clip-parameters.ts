import type { ParameterList } from "./parameter-list.js";

/** The fields of a CLIPTextModel config that decide its parameters here. */
export interface TinyClipConfig {
  readonly vocab_size: number;
  readonly max_position_embeddings: number;
  readonly hidden_size: number;
  readonly intermediate_size: number;
  readonly num_hidden_layers: number;
  readonly projection_dim: number;
  readonly architectures: readonly string[];
}

export function addClipParameters(list: ParameterList, config: TinyClipConfig): void {
  const width = config.hidden_size;
  list.random("text_model.embeddings.token_embedding.weight", [config.vocab_size, width], 4);
  list.random("text_model.embeddings.position_embedding.weight", [config.max_position_embeddings, width], 25);
  for (let i = 0; i < config.num_hidden_layers; i++) {
    const layer = `text_model.encoder.layers.${i}`;
    list.norm(`${layer}.layer_norm1`, width);
    for (const part of ["q_proj", "k_proj", "v_proj", "out_proj"])
      list.linear(`${layer}.self_attn.${part}`, width, width);
    list.norm(`${layer}.layer_norm2`, width);
    list.linear(`${layer}.mlp.fc1`, config.intermediate_size, width);
    list.linear(`${layer}.mlp.fc2`, width, config.intermediate_size);
  }
  list.norm("text_model.final_layer_norm", width);
  if (config.architectures.includes("CLIPTextModelWithProjection")) {
    list.linear("text_projection", config.projection_dim, width, false);
  }
}
