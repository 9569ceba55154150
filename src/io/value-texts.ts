/**
 * Numbers, dates and times as the text that values.ts says they are: what needs no Arrow library, for other threads.
 */

/** −0 keeps its sign; what is too large for whole numbers to be exact is not written like one. */
export function numberText(value: number): string {
  if (Object.is(value, -0)) return "-0";
  return Math.abs(value) > Number.MAX_SAFE_INTEGER && Number.isFinite(value)
    ? value.toExponential()
    : String(value);
}

/** Floats of 32 (or 16) bits: the fewest digits that give the same value. */
export function shortText(value: number): string {
  if (!Number.isFinite(value) || value === 0) return numberText(value);
  for (let digits = 6; digits < 9; digits++) {
    const short = Number(value.toPrecision(digits));
    if (Math.fround(short) === Math.fround(value)) return numberText(short);
  }
  return numberText(Number(value.toPrecision(9)));
}

export function decimalText(unscaled: bigint, scale: number): string {
  if (scale <= 0) return String(unscaled * 10n ** BigInt(-scale));
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, "0");
  return `${unscaled < 0n ? "-" : ""}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

export function dateText(milliseconds: number | bigint): string {
  return isoText(Number(milliseconds))?.split("T")[0] ?? String(milliseconds);
}

/** Without the fraction and the zone; null outside the years that Date knows. */
function isoText(milliseconds: number): string | null {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().slice(0, -5);
}

/** Arrow's units of time: seconds, then thousandths of the one before. */
export type TimeUnit = 0 | 1 | 2 | 3;

export function timestampText(value: bigint, unit: TimeUnit, zone: string): string {
  const [seconds, fraction] = splitSeconds(value, unit);
  const text = isoText(Number(seconds) * 1000);
  return text === null ? String(value) : `${text}${fraction}${zone}`;
}

export function timeText(value: bigint, unit: TimeUnit): string {
  const [seconds, fraction] = splitSeconds(value, unit);
  if (seconds < 0n || seconds > 86_400n) return String(value); // no time of a day
  const two = (part: bigint) => String(part).padStart(2, "0");
  return `${two(seconds / 3600n)}:${two((seconds / 60n) % 60n)}:${two(seconds % 60n)}${fraction}`;
}

/**
 * Whole seconds, and the rest as ".123", ".123456" or ".123456789", whichever is long enough; "" when there is none.
 */
function splitSeconds(value: bigint, unit: TimeUnit): [seconds: bigint, fraction: string] {
  const digits = 3 * unit; // after the point of a second
  const perSecond = 10n ** BigInt(digits);
  const rest = ((value % perSecond) + perSecond) % perSecond;
  if (rest === 0n) return [value / perSecond, ""];
  const text = String(rest)
    .padStart(digits, "0")
    .replace(/(?:000)+$/, "");
  return [(value - rest) / perSecond, `.${text}`];
}
