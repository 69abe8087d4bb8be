/**
 * Writes protobuf wire format into one growing buffer. Written here because an ONNX model needs only five field kinds,
 * and the generated classes of `onnx-proto` bring all of protobufjs with them.
 */

const VARINT = 0;
const BYTES = 2;
const FIXED32 = 5;
const FIRST_CAPACITY = 1 << 12;

export class ProtobufWriter {
  private buffer = Buffer.allocUnsafe(FIRST_CAPACITY);
  private length = 0;

  private reserve(count: number): number {
    const at = this.length;
    if (at + count > this.buffer.length) {
      const larger = Buffer.allocUnsafe(Math.max(this.buffer.length * 2, at + count));
      this.buffer.copy(larger, 0, 0, at);
      this.buffer = larger;
    }
    this.length = at + count;
    return at;
  }

  private byte(value: number): void {
    const at = this.reserve(1);
    this.buffer[at] = value;
  }

  private varint(value: number | bigint): void {
    // negative int64 values are ten bytes of two's complement
    let rest = BigInt.asUintN(64, BigInt(value));
    while (rest > 127n) {
      this.byte(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    this.byte(Number(rest));
  }

  private tag(field: number, wire: number): void {
    this.varint(field * 8 + wire);
  }

  int(field: number, value: number | bigint): this {
    this.tag(field, VARINT);
    this.varint(value);
    return this;
  }

  /** int64 lists, packed */
  ints(field: number, values: readonly number[]): this {
    const inner = new ProtobufWriter();
    for (const value of values) inner.varint(value);
    return this.bytes(field, inner.finish());
  }

  float(field: number, value: number): this {
    this.tag(field, FIXED32);
    const at = this.reserve(4);
    this.buffer.writeFloatLE(value, at);
    return this;
  }

  floats(field: number, values: readonly number[]): this {
    return this.bytes(field, new Uint8Array(Float32Array.from(values).buffer));
  }

  text(field: number, value: string): this {
    return this.bytes(field, Buffer.from(value, "utf8"));
  }

  bytes(field: number, value: Uint8Array): this {
    this.tag(field, BYTES);
    this.varint(value.length);
    const at = this.reserve(value.length);
    this.buffer.set(value, at);
    return this;
  }

  message(field: number, write: (writer: ProtobufWriter) => void): this {
    const inner = new ProtobufWriter();
    write(inner);
    return this.bytes(field, inner.finish());
  }

  finish(): Uint8Array {
    return this.buffer.subarray(0, this.length);
  }
}
