import type { GraphBuilder, Value } from "./graph-builder.js";
import { concat, multiply } from "./operators.js";

/** Height and width of a picture [batch, channels, height, width]. */
export function sidesOf(g: GraphBuilder, picture: Value): Value {
  return g.node("Shape", [picture], { start: 2, end: 4 }, "int64");
}

/** Those of one twice as large. */
export function doubleSides(g: GraphBuilder, sides: Value): Value {
  return multiply(g, sides, g.constantInts([2]));
}

/**
 * The four corners of every pixel, each [n, height, width, channels] and in the order of CORNERS, beside each other and below each other.
 * Memory then holds [n, 2 height, 2 width, channels]; the result has to be reshaped to that. Channels last, because they can be copied at once.
 */
export function joinCorners(
  g: GraphBuilder,
  [topLeft, topRight, bottomLeft, bottomRight]: readonly [Value, Value, Value, Value],
): Value {
  return concat(g, [concat(g, [topLeft, topRight], 3), concat(g, [bottomLeft, bottomRight], 3)], 2);
}
