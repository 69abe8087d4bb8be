/** Typed reading of a config.json: every complaint names the file, the field, its value and what would be accepted. */

export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(
    readonly origin: string,
    readonly field: string,
    readonly value: unknown,
    expectation: string,
  ) {
    super(`${origin}: '${field}' is ${JSON.stringify(value) ?? "missing"}; ${expectation}`);
  }
}

/** Dimensions beyond this are no network that fits a computer; they keep absurd configs from building absurd graphs. */
const MAX_SIZE = 1 << 20;

export class ConfigReader {
  constructor(
    readonly json: Readonly<Record<string, unknown>>,
    /** file name for messages */
    readonly origin: string,
  ) {}

  /** A present value; null counts as absent, as diffusers writes it. */
  private value(field: string): unknown {
    const value = Object.hasOwn(this.json, field) ? this.json[field] : undefined;
    return value === null ? undefined : value;
  }

  has(field: string): boolean {
    return this.value(field) !== undefined;
  }

  fail(field: string, expectation: string): ConfigError {
    return new ConfigError(this.origin, field, this.value(field), expectation);
  }

  integer(field: string, fallback?: number): number {
    const value = this.value(field) ?? fallback;
    if (!isSize(value)) throw this.fail(field, `expected a whole number from 0 to ${MAX_SIZE}`);
    return value;
  }

  optionalInteger(field: string): number | undefined {
    return this.has(field) ? this.integer(field) : undefined;
  }

  /** a whole number of at least 1 */
  size(field: string, fallback?: number): number {
    const value = this.integer(field, fallback);
    if (value < 1) throw this.fail(field, "expected at least 1");
    return value;
  }

  number(field: string, fallback?: number): number {
    const value = this.value(field) ?? fallback;
    if (typeof value !== "number" || !Number.isFinite(value)) throw this.fail(field, "expected a number");
    return value;
  }

  boolean(field: string, fallback: boolean): boolean {
    const value = this.value(field) ?? fallback;
    if (typeof value !== "boolean") throw this.fail(field, "expected true or false");
    return value;
  }

  text(field: string, fallback?: string): string {
    const value = this.value(field) ?? fallback;
    if (typeof value !== "string") throw this.fail(field, "expected a text");
    return value;
  }

  oneOf<T extends string>(field: string, allowed: readonly T[], fallback?: T): T {
    const value = this.value(field) ?? fallback;
    const found = allowed.find((item) => item === value);
    if (found === undefined) throw this.fail(field, `supported: ${allowed.join(", ")}`);
    return found;
  }

  sizes(field: string, fallback?: readonly number[]): readonly number[] {
    const value = this.value(field) ?? fallback;
    if (!Array.isArray(value) || value.length === 0 || !value.every((item) => isSize(item) && item > 0)) {
      throw this.fail(field, "expected a list of positive whole numbers");
    }
    return value;
  }

  texts<T extends string>(field: string, allowed: readonly T[], fallback?: readonly T[]): readonly T[] {
    const value = this.value(field) ?? fallback;
    if (!Array.isArray(value) || value.length === 0) throw this.fail(field, "expected a list");
    for (const item of value) {
      if (!allowed.includes(item)) throw this.fail(field, `supported entries: ${allowed.join(", ")}`);
    }
    return value;
  }

  /** One number for all blocks, or a list with one for each. */
  sizePerBlock(field: string, blocks: number, fallback: number): readonly number[] {
    const value = this.value(field) ?? fallback;
    if (isSize(value) && value > 0) return Array.from({ length: blocks }, () => value);
    const list = this.sizes(field);
    if (list.length !== blocks) throw this.fail(field, `expected a number or a list of ${blocks}`);
    return list;
  }

  booleanPerBlock(field: string, blocks: number, fallback: boolean): readonly boolean[] {
    const value = this.value(field) ?? fallback;
    if (typeof value === "boolean") return Array.from({ length: blocks }, () => value);
    if (!Array.isArray(value) || value.length !== blocks || !value.every((item) => typeof item === "boolean")) {
      throw this.fail(field, `expected true, false or a list of ${blocks} of them`);
    }
    return value;
  }

  /** Numbers per layer of each block: 1, [1, 2, 4] or [[1, 1], [2, 2]]. */
  sizesPerLayer(field: string, layers: readonly number[], fallback: number): readonly (readonly number[])[] {
    const value = this.value(field) ?? fallback;
    const list = Array.isArray(value) ? value : layers.map(() => value);
    if (list.length !== layers.length) throw this.fail(field, `expected a number or a list of ${layers.length}`);
    return list.map((item, block) => {
      const inner = Array.isArray(item) ? item : Array.from({ length: layers[block]! }, () => item);
      if (inner.length !== layers[block] || !inner.every((size) => isSize(size) && size > 0)) {
        throw this.fail(field, `entry ${block} must be a positive whole number or a list of ${layers[block]}`);
      }
      return inner;
    });
  }

  /** Refuses a feature that no graph of ours has, unless it is switched off in the file. */
  refuse(field: string, off: readonly unknown[] = []): void {
    const value = this.value(field);
    if (value !== undefined && !off.includes(value)) {
      throw this.fail(field, "this variant of the architecture is not supported");
    }
  }
}

function isSize(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= MAX_SIZE;
}
