/** Scales: numbers to places, and the round numbers at which an axis is marked. Linear, and logarithmic to base 2 and 10. */
import type { ScaleName } from "./figure.js";

/** A mark of an axis. */
export interface Tick {
  readonly value: number;
  readonly text: string;
}

export interface Scale {
  /** Where a value lies, 0 at the beginning of the axis and 1 at its end. */
  at(value: number): number;
  readonly ticks: readonly Tick[];
}

/**
 * A scale for `values`, with at most about `count` marks. Linear scales begin at 0, logarithmic ones take positive numbers
 * only; all end at a mark or at the largest value.
 */
export function scaleFor(name: ScaleName, values: readonly number[], count: number): Scale {
  if (name === "linear") return linear(Math.max(...values, 0), count);
  const positive = values.filter((value) => value > 0);
  const base = name === "log2" ? 2 : 10;
  return logarithmic(base, Math.min(...positive), Math.max(...positive), count);
}

function linear(largest: number, count: number): Scale {
  const step = roundStep((largest || 1) / count);
  const marks = Math.max(1, Math.ceil(largest / step - 1e-9));
  const end = marks * step;
  // multiplied, not summed up: sums of 0.1 drift
  const values = Array.from({ length: marks + 1 }, (_, i) => Number((i * step).toPrecision(12)));
  return { at: (value) => value / end, ticks: values.map((value) => ({ value, text: short(value) })) };
}

/** The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `least`. */
function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= least * (1 - 1e-9)) ?? 10;
  return factor * power;
}

/** Powers from one mark to the next. */
const LOG_STEPS = [1, 2, 4, 5, 10, 20];

function logarithmic(base: 2 | 10, smallest: number, largest: number, count: number): Scale {
  const log = base === 2 ? Math.log2 : Math.log10;
  const first = Math.floor(log(smallest) + 1e-9);
  const last = Math.max(first + 1, Math.ceil(log(largest) - 1e-9));
  const step = LOG_STEPS.find((each) => (last - first) / each <= count) ?? last - first;
  const ticks: Tick[] = [];
  for (let exponent = first; exponent <= last; exponent += step) {
    const value = base ** exponent;
    ticks.push({ value, text: base === 2 ? powerOfTwo(exponent) : short(value) });
  }
  return { at: (value) => (log(value) - first) / (last - first), ticks };
}

const SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/** 2 with its exponent raised. */
export function powerOfTwo(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => SUPERSCRIPTS[Number(digit)]).join("");
  return `2${exponent < 0 ? "⁻" : ""}${digits}`;
}

/** A number in few characters: 1.5, 250, 12k, 3M, 0.001. */
export function short(value: number): string {
  const size = Math.abs(value);
  for (const [unit, letter] of [
    [1e9, "G"],
    [1e6, "M"],
    [1e4, "k"],
  ] as const) {
    if (size >= unit) return `${Number((value / (letter === "k" ? 1e3 : unit)).toPrecision(4))}${letter}`;
  }
  return String(Number(value.toPrecision(4)));
}

/** A measured value beside its bar: three significant digits, whole from 100 on. */
export function valueText(value: number): string {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(3);
}
