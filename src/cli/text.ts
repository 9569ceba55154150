/** Numbers, amounts and lists in words for people. */

/** Rows of a result that are printed. */
export const FIRST_ROWS = 10;

/** 1234567 as "1,234,567". Without Intl, which takes 17 ms to begin. */
export function grouped(value: number): string {
  return value.toFixed(0).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 row", "2,000 rows". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Seconds to the millisecond: "1.350 s". */
export function secondsText(seconds: number): string {
  return `${seconds.toFixed(3)} s`;
}

/** A measured number: whole numbers grouped, others with four significant digits. */
export function measured(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return grouped(value);
  return String(Number(value.toPrecision(4)));
}

/** The first names of a list that may be long: "a, b, c and 97 more". */
export function listed(names: readonly string[], most = 20): string {
  const first = names.slice(0, most).join(", ");
  return names.length > most ? `${first} and ${grouped(names.length - most)} more` : first;
}
