import { expect, it } from "vitest";
import { findFilterBlock } from "./find-filter-block.js";

it("finds the machine's own block where its numbers agree with the plain convolution's", async () => {
  expect([undefined, 8, 16]).toContain(await findFilterBlock());
  // every x64 processor that onnxruntime runs fast on has one of them
  if (process.arch === "x64") expect(await findFilterBlock()).toBeDefined();
});
