import { expect, it } from "vitest";
import { parseGpuLine } from "./gpu-info.js";

it("reads nvidia-smi's line, and nothing else", () => {
  expect(parseGpuLine("NVIDIA H200, 143771, 1024\r")).toEqual({
    name: "NVIDIA H200",
    vramTotalMb: 143771,
    vramUsedMb: 1024,
  });
  expect(parseGpuLine("NVIDIA-SMI has failed because it couldn't communicate with the driver")).toBeNull();
  expect(parseGpuLine("")).toBeNull();
});
