/** A setting that makes no sense: the start stops with this message, which names the flag and the remedy. */
export class SettingError extends Error {
  override readonly name = "SettingError";
}
