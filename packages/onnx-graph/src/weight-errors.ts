/** How many names a message lists before it only counts the rest. */
const MAX_LISTED = 12;

/** The checkpoint lacks tensors that its config.json calls for. */
export class MissingTensorsError extends Error {
  override readonly name = "MissingTensorsError";
  constructor(
    readonly component: string,
    readonly origin: string,
    /** the names, with the shapes they should have */
    readonly missing: ReadonlyMap<string, readonly number[]>,
  ) {
    const names = [...missing.keys()];
    const listed = names.slice(0, MAX_LISTED).join(", ");
    const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : "";
    super(
      `${origin}: ${names.length} tensor${names.length === 1 ? " is" : "s are"} missing for ${component}: ${listed}${more}; the file is incomplete or does not belong to its config.json`,
    );
  }
}

/** A tensor has other dimensions than its config.json calls for. */
export class TensorShapeError extends Error {
  override readonly name = "TensorShapeError";
  constructor(
    readonly file: string,
    readonly tensor: string,
    readonly expected: readonly number[],
    readonly found: readonly number[],
  ) {
    super(
      `${file}: tensor '${tensor}' has shape [${found.join(", ")}], but its config.json calls for [${expected.join(", ")}]`,
    );
  }
}
