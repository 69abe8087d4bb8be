/**
 * The last rendered answers, by address. Popular searches and packages are asked for again and again; the bytes are ready
 * then, and so are their compressed forms, which the kernel keeps with the Buffer.
 */
export class PageCache {
  readonly #limit: number;
  /** Least recently used first. */
  readonly #pages = new Map<string, Buffer>();
  #bytes = 0;

  constructor(limitBytes: number) {
    this.#limit = limitBytes;
  }

  get(address: string): Buffer | undefined {
    const page = this.#pages.get(address);
    if (page === undefined) return undefined;
    this.#pages.delete(address);
    this.#pages.set(address, page);
    return page;
  }

  keep(address: string, page: Buffer): void {
    // One page may not push out everything else.
    if (page.length + address.length > this.#limit / 8) return;
    this.#drop(address);
    this.#pages.set(address, page);
    this.#bytes += page.length + address.length;
    for (const oldest of this.#pages.keys()) {
      if (this.#bytes <= this.#limit) break;
      this.#drop(oldest);
    }
  }

  clear(): void {
    this.#pages.clear();
    this.#bytes = 0;
  }

  #drop(address: string): void {
    const page = this.#pages.get(address);
    if (page === undefined) return;
    this.#pages.delete(address);
    this.#bytes -= page.length + address.length;
  }
}
