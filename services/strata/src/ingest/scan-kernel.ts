import { readFileSync } from "node:fs";
import { type WasmMemory, type WasmModule, webAssembly } from "../store/web-assembly.js";

/** What assembly/scan.ts exports. Addresses are 32-bit numbers; results must be made unsigned with `>>> 0`. */
interface ScanExports {
  beginValue(): void;
  findValueEnd(at: number, end: number): number;
  resumeAt(): number;
  hashBytes(at: number, end: number): number;
  hashHighHalf(): number;
}

const PAGE_BYTES = 65_536;
/** The first page belongs to the module itself. */
const BASE = PAGE_BYTES;
const MOST_PAGES = 65_536;
const SCANNER_FILE = new URL("../../dist/scan.wasm", import.meta.url);
let compiled: WasmModule | undefined;

/** A buffer in WebAssembly memory and the loops that run over it. Positions are those in the buffer. */
export class ScanKernel {
  /** Becomes another one when room is made. */
  buffer: Buffer;
  private readonly memory: WasmMemory;
  private readonly scan: ScanExports;

  constructor(bytes: number) {
    compiled ??= new webAssembly.Module(readScanner());
    const initial = 1 + Math.ceil(bytes / PAGE_BYTES);
    this.memory = new webAssembly.Memory({ initial, maximum: MOST_PAGES });
    const imports = { env: { memory: this.memory, abort: refuseAbort } };
    this.scan = new webAssembly.Instance(compiled, imports).exports as ScanExports;
    this.buffer = this.view();
  }

  /** Makes the buffer at least this large; what is in it stays. */
  makeRoom(bytes: number): void {
    const wanted = Math.max(bytes, this.buffer.length * 2);
    this.memory.grow(Math.ceil((wanted - this.buffer.length) / PAGE_BYTES));
    this.buffer = this.view();
  }

  /** Begins to look for the end of a value whose opening bracket was passed. */
  beginValue(): void {
    this.scan.beginValue();
  }

  /** The position behind the value, or -1 when it is not in the buffer yet; go on from `resumeAt` then. */
  findValueEnd(at: number, end: number): number {
    const found = this.scan.findValueEnd(BASE + at, BASE + end) >>> 0;
    return found === 0 ? -1 : found - BASE;
  }

  resumeAt(): number {
    return (this.scan.resumeAt() >>> 0) - BASE;
  }

  /** The low half of a 64-bit hash; `hashHigh` has the high half of the hash last made. */
  hash(at: number, end: number): number {
    return this.scan.hashBytes(BASE + at, BASE + end);
  }

  hashHigh(): number {
    return this.scan.hashHighHalf();
  }

  /** A hash of 53 bits in one number, for keys of maps. */
  hashKey(at: number, end: number): number {
    const low = this.scan.hashBytes(BASE + at, BASE + end) >>> 0;
    return (this.scan.hashHighHalf() & 0x1f_ffff) * 2 ** 32 + low;
  }

  private view(): Buffer {
    return Buffer.from(this.memory.buffer, BASE, this.memory.buffer.byteLength - BASE);
  }
}

function readScanner(): Uint8Array {
  try {
    return readFileSync(SCANNER_FILE);
  } catch (error) {
    throw new Error("The scanner of package lists is not built: run 'npm run build'.", { cause: error });
  }
}

function refuseAbort(): never {
  throw new Error("The scanner of package lists stopped.");
}
