/** Unix seconds as `2023-11-14T22:13:20Z`: whole seconds, always 20 characters. */
export function formatTimestamp(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
