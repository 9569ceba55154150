/**
 * Checks of options that all public functions share. They run before anything is done. An option that nobody knows is refused:
 * most are misspelt, and a call without them would quietly do something else.
 */
import { DeviceArray } from "./engine/device-array.js";
import { PinnedArray } from "./engine/pinned-array.js";
import { ValidationError } from "./errors.js";

/**
 * Checks that `options` is an object with no other options than `known`, which spaces separate.
 * @throws ValidationError that names the nearest option, and all
 */
export function checkOptions(options: unknown, known: string): void {
  const all = `The options are ${known.replaceAll(" ", ", ")}.`;
  // whatever has elements was meant for something else
  if (typeof options !== "object" || options === null || Symbol.iterator in options || isPlaced(options)) {
    throw new ValidationError(`The options are ${describe(options)}.`, `Give an object. ${all}`);
  }
  const names = known.split(" ");
  for (const name of Object.keys(options)) {
    if (names.includes(name)) continue;
    const [nearest] = names.sort((a, b) => distance(name, a) - distance(name, b));
    const isNear = distance(name, nearest) <= Math.max(name.length, nearest.length) / 2;
    throw new ValidationError(
      `There is no option "${name}" here.`,
      isNear ? `Did you mean "${nearest}"? ${all}` : all,
    );
  }
}

/** Letters to insert, delete or replace so that one name becomes the other (Levenshtein's distance). */
function distance(a: string, b: string): number {
  const row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (const letter of a) {
    let diagonal = row[0]++;
    for (let j = 1; j < row.length; j++) {
      const replaced = diagonal + Number(letter !== b[j - 1]);
      diagonal = row[j];
      row[j] = Math.min(replaced, row[j] + 1, row[j - 1] + 1);
    }
  }
  return row[b.length];
}

/** Checks a signal, and functions that a call tells something. */
export function checkCallbacks({ signal, ...callbacks }: { signal: unknown; [name: string]: unknown }): void {
  if (signal !== undefined && typeof (signal as AbortSignal | null)?.throwIfAborted !== "function") {
    throw new ValidationError(
      `signal is ${describe(signal)}.`,
      "Give an AbortSignal, such as the signal of an AbortController.",
    );
  }
  for (const [name, callback] of Object.entries(callbacks)) {
    if (callback === undefined || typeof callback === "function") continue;
    throw new ValidationError(`${name} is ${describe(callback)}.`, "Give a function.");
  }
}

/** Checks an option that is true or false. */
export function checkBoolean(name: string, value: unknown): void {
  if (value === undefined || typeof value === "boolean") return;
  throw new ValidationError(`${name} is ${describe(value)}.`, "Give true or false.");
}

/** True for arrays that belong to a device. */
export function isPlaced(column: unknown): column is DeviceArray | PinnedArray {
  return column instanceof DeviceArray || column instanceof PinnedArray;
}

/** What a wrong argument is, in words. */
export function describe(value: unknown): string {
  if (isPlaced(value))
    return `a ${value instanceof DeviceArray ? "device" : "pinned"} array of ${value.type}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value === "bigint") return `${value}n`;
  if (typeof value === "function") return "a function";
  if (typeof value !== "object" || value === null) return String(value);
  const name = value.constructor?.name ?? "object";
  return `${/^[AEIO]/i.test(name) ? "an" : "a"} ${name}`;
}
