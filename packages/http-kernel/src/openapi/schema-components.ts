import type { TSchema } from "typebox";

/** Collects schemas that carry a title as named components, so that a shape used in ten places is written once. */
export class SchemaComponents {
  readonly schemas: Record<string, unknown> = {};

  /** The schema as it stands in the document: itself, or a reference to its component. */
  place(schema: TSchema): unknown {
    return this.#visit(schema);
  }

  #visit(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#visit(item));
    if (typeof node !== "object" || node === null) return node;
    const copy = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, this.#visit(value)]));
    const title: unknown = copy["title"];
    if (typeof title !== "string" || !/^[A-Za-z][A-Za-z0-9]*$/.test(title)) return copy;
    const known = this.schemas[title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(copy))
      throw new Error(`Two different schemas are titled '${title}'`);
    this.schemas[title] = copy;
    return { $ref: `#/components/schemas/${title}` };
  }
}
