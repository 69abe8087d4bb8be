import { describe, expect, it } from "vitest";
import { chooseCpuMath } from "./choose-cpu-math.js";

const machine = (arch: string, ...flags: string[]) => ({ arch, flags: new Set(flags) });

describe("the arithmetic of the cpu backend", () => {
  it.each(["amx_int8", "avx512_vnni"])("is int8 where it is asked for and the processor has %s", (flag) => {
    expect(chooseCpuMath("int8", "cpu", machine("x64", "avx2", flag))).toEqual({ math: "int8" });
  });

  it("is float32 everywhere else, silently where nothing else was asked for", () => {
    expect(chooseCpuMath("float32", "cpu", machine("x64", "amx_int8"))).toEqual({ math: "float32" });
    expect(chooseCpuMath("float32", "cuda", machine("x64"))).toEqual({ math: "float32" });
  });

  it.each([
    ["webgpu", machine("x64", "amx_int8"), /setting of the cpu backend, and webgpu computes/],
    ["cpu", machine("arm64"), /x64 processor, and this one is arm64/],
    ["cpu", machine("x64", "avx2", "avx_vnni"), /amx_int8 or avx512_vnni, which this one lacks; .* float32/],
    ["cpu", { arch: "x64", flags: undefined }, /only known on Linux/],
  ] as const)("says why it has no effect: %s %o", (backend, processor, reason) => {
    const choice = chooseCpuMath("int8", backend, processor);
    expect(choice.math).toBe("float32");
    expect(choice.notice).toMatch(/^cpu-math int8 has no effect: /);
    expect(choice.notice).toMatch(reason);
  });
});
