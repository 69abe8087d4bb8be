/** A weight file that cannot be used. The message names the file, what is wrong with it and, where there is one, the remedy. */
export class TensorFileError extends Error {
  override readonly name = "TensorFileError";
  constructor(
    readonly file: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${file}: ${problem}`, options);
  }
}
