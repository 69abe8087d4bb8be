/** The rows of a long list to show so that the selected one is in sight, near the middle where possible. */
export function listWindow(
  length: number,
  selected: number,
  room: number,
): { readonly start: number; readonly end: number } {
  const start = Math.max(0, Math.min(selected - Math.floor(room / 2), length - room));
  return { start, end: Math.min(length, start + room) };
}

export const clampIndex = (index: number, length: number): number => Math.max(0, Math.min(length - 1, index));
