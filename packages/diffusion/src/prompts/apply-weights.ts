/**
 * Weights on encoded prompts. An embedding is moved along the line from the empty prompt's embedding at the same position:
 * result = empty + weight * (encoded - empty). Weight 1 changes nothing, weight 0 says as little as an empty prompt, and no
 * renormalisation is needed, because what does not depend on the words (position, start token) is left alone.
 */
export function applyWeights(encoded: Float32Array, empty: Float32Array, weights: Float32Array): Float32Array {
  const width = encoded.length / weights.length;
  const result = Float32Array.from(encoded);
  for (const [token, weight] of weights.entries()) {
    if (weight === 1) continue;
    for (let i = token * width; i < (token + 1) * width; i++) {
      result[i] = empty[i]! + weight * (encoded[i]! - empty[i]!);
    }
  }
  return result;
}

export function hasWeights(weights: Float32Array): boolean {
  return weights.some((weight) => weight !== 1);
}
