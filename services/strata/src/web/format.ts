/** Numbers and dates as the page shows them; months in English like the rest of the page. */
const counts = new Intl.NumberFormat("en");
const days = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", day: "numeric", timeZone: "UTC" });

const months = new Intl.DateTimeFormat("en", { year: "numeric", month: "short", timeZone: "UTC" });

export function formatCount(count: number): string {
  return counts.format(count);
}

export function formatDay(timestamp: string): string {
  return days.format(new Date(timestamp));
}

export function formatMonth(timestamp: string): string {
  return months.format(new Date(timestamp));
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}
