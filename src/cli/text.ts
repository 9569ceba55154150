/** Numbers and amounts in words for people. */

const GROUPED = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

/** 1234567 as "1,234,567". */
export function grouped(value: number): string {
  return GROUPED.format(value);
}

/** "1 row", "2,000 rows". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${grouped(count)} ${count === 1 ? one : many}`;
}

/** Seconds with as many digits as matter: "0.012 s", "1.35 s", "62.4 s". */
export function secondsText(seconds: number): string {
  const digits = seconds < 1 ? 3 : seconds < 10 ? 2 : 1;
  return `${seconds.toFixed(digits)} s`;
}

/** A measured number: whole numbers grouped, others with four significant digits. */
export function measured(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  if (Number.isInteger(value) || Math.abs(value) >= 1000) return grouped(value);
  return String(Number(value.toPrecision(4)));
}
