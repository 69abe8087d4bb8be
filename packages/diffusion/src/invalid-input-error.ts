/** Something the user gave (a config, a size, an adapter ...) cannot be used. The message names what, its value, and the remedy. */
export class InvalidInputError extends Error {
  override readonly name = "InvalidInputError";
}
