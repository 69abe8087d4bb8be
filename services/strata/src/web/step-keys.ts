/** Arrow keys in a list: everything marked with data-step is a stop. Up from the first one goes back to the search field. */
export function moveBetweenSteps(event: KeyboardEvent): void {
  const distance = { ArrowDown: 1, ArrowUp: -1, Home: Number.NEGATIVE_INFINITY, End: Number.POSITIVE_INFINITY }[
    event.key
  ];
  const list = event.currentTarget as HTMLElement;
  const steps = [...list.querySelectorAll<HTMLElement>("[data-step]")];
  const at = steps.indexOf(document.activeElement as HTMLElement);
  if (distance === undefined || at < 0) {
    return;
  }
  event.preventDefault();
  if (at + distance === -1) {
    document.querySelector<HTMLInputElement>("input[name=q]")?.focus();
    return;
  }
  const target = steps[Math.max(0, Math.min(steps.length - 1, at + distance))];
  target?.focus();
  target?.scrollIntoView({ block: "nearest" });
}
