/** The sections of a file in the making, in the order they were added. */
export class SectionList {
  readonly sections: { name: string; bytes: Uint8Array }[] = [];

  add(name: string, data: Uint32Array | Uint16Array | Uint8Array): void {
    this.sections.push({ name, bytes: new Uint8Array(data.buffer, data.byteOffset, data.byteLength) });
  }

  /** Adds `<name>Text` (the strings end to end) and `<name>At` (where each begins, with one closing entry). */
  addTexts(name: string, texts: readonly string[]): void {
    const at = new Uint32Array(texts.length + 1);
    let length = 0;
    for (let i = 0; i < texts.length; i++) {
      length += Buffer.byteLength(texts[i]!);
      at[i + 1] = length;
    }
    if (length > LONGEST_TEXTS) {
      throw new RangeError(`The texts of '${name}' take ${length} bytes; a section holds at most ${LONGEST_TEXTS}.`);
    }
    const bytes = Buffer.alloc(length);
    for (let i = 0; i < texts.length; i++) bytes.write(texts[i]!, at[i]!, "utf8");
    this.add(`${name}Text`, bytes);
    this.add(`${name}At`, at);
  }
}

/** The whole file must fit the 4 GiB of a WebAssembly memory beside the working space of the queries. */
const LONGEST_TEXTS = 2 ** 31 - 1;
