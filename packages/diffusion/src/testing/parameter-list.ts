import { type MemoryTensor, tensorFromFloats } from "@kit/tensor-files";

/** Random parameters of a net under construction, named and shaped as diffusers and transformers name and shape them. */
export class ParameterList {
  readonly tensors: MemoryTensor[] = [];
  private state: number;

  constructor(
    seed: number,
    private readonly dtype: "F32" | "F16",
  ) {
    this.state = (seed * 2654435761 + 1) >>> 0;
  }

  conv(name: string, outputs: number, inputs: number, kernel = 3): void {
    this.random(`${name}.weight`, [outputs, inputs, kernel, kernel], inputs * kernel * kernel);
    this.random(`${name}.bias`, [outputs], 2500);
  }

  linear(name: string, outputs: number, inputs: number, bias = true): void {
    this.random(`${name}.weight`, [outputs, inputs], inputs);
    if (bias) this.random(`${name}.bias`, [outputs], 2500);
  }

  norm(name: string, channels: number): void {
    this.random(`${name}.weight`, [channels], 100, 1);
    this.random(`${name}.bias`, [channels], 100);
  }

  /** Uniform with variance 1 / fanIn around a centre, so that signals keep their size through the net. */
  random(name: string, shape: readonly number[], fanIn: number, centre = 0): void {
    const count = shape.reduce((product, size) => product * size, 1);
    const width = Math.sqrt(12 / fanIn);
    const values = new Float32Array(count);
    for (let i = 0; i < count; i++) values[i] = centre + (this.nextUniform() - 0.5) * width;
    this.tensors.push(tensorFromFloats(name, shape, values, this.dtype));
  }

  /** A 32-bit mixing generator: quality hardly matters here, speed and repeatability do. */
  private nextUniform(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), this.state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
}
