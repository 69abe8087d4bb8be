import type { EngineMemory } from "./engine-memory.js";
import { LONGEST_PAGE, OUTPUT_BYTES } from "./lay-out-workspace.js";

/** What stands between the values of a record; assembly/render.ts uses them by number. */
const LABELS = [
  '{"id":',
  ',"attribute_path":',
  ',"name":',
  ',"version":',
  ',"description":',
  ',"license":',
  ',"first_commit_hash":"',
  '","first_commit_date":"',
  '","last_commit_hash":"',
  '","last_commit_date":"',
  '"',
  ',"homepage":',
  ',"maintainers":',
  ',"platforms":',
  ',"source_path":',
  ',"known_vulnerabilities":',
  "}",
] as const;
const DICTIONARIES = ["attributePath", "name", "version", "license"] as const;
const DETAILS = ["description", "homepage", "maintainers", "platforms", "sourcePath", "knownVulnerabilities"] as const;
/** Labels lie behind the table, where wide copies may read past them. */
const LABELS_AT = 512;

/** Renders records as the JSON text of a response, ready to be sent. */
export class RecordRenderer {
  readonly #memory: EngineMemory;
  readonly #output: Buffer;

  constructor(memory: EngineMemory) {
    this.#memory = memory;
    this.#output = Buffer.from(memory.index.memory.buffer, memory.place("output"), OUTPUT_BYTES);
    this.#fillTable();
  }

  /** `before`, the records with commas between them, `after`. */
  render(rows: Uint32Array, before: string, after: string): Buffer {
    const { kernels } = this.#memory;
    const address = this.#memory.place("output");
    const page = this.#memory.place("pageRows");
    const result = this.#memory.view(this.#memory.place("result"), 1);
    const list = this.#memory.view(page, LONGEST_PAGE);
    const pieces: Buffer[] = [];
    let used = this.#output.write(before, 0, "latin1");
    for (let done = 0; done < rows.length; ) {
      // Long lists go through the page in turns; a page that is already in place stays there.
      const turn = rows.subarray(done, done + LONGEST_PAGE);
      if (turn.byteOffset !== page) list.set(turn);
      if (done > 0) used += this.#output.write(",", used, "latin1");
      for (let rendered = 0; rendered < turn.length; ) {
        rendered += kernels.renderRows(
          page,
          rendered,
          turn.length,
          address + used,
          address + OUTPUT_BYTES,
          result.byteOffset,
        );
        used = result[0]! - address;
        if (rendered < turn.length) {
          pieces.push(Buffer.from(this.#output.subarray(0, used)));
          used = 0;
        }
      }
      done += turn.length;
    }
    const tail = Buffer.from(after, "latin1");
    return Buffer.concat([...pieces, this.#output.subarray(0, used), tail]);
  }

  #fillTable(): void {
    const { index } = this.#memory;
    const address = this.#memory.place("renderTable");
    const table = this.#memory.view(address, 128);
    const labels = Buffer.from(index.memory.buffer, address + LABELS_AT, 512);
    let number = 0;
    let at = 0;
    for (const label of LABELS) {
      table[number++] = address + LABELS_AT + at;
      table[number++] = label.length;
      at += labels.write(label, at, "latin1");
    }
    for (const name of DICTIONARIES) {
      table[number++] = index.address(`${name}Text`);
      table[number++] = index.address(`${name}At`);
    }
    for (const name of DETAILS) {
      table[number++] = index.address(`${name}Text`);
      table[number++] = index.address(`${name}At`);
      table[number++] = index.address(`detail:${name}`);
    }
    table[number] = index.address("commits");
  }
}
