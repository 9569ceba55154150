/**
 * Checks of options that all public functions share. They run before anything is done. An option that nobody knows is
 * refused: most are misspelt, and a call without them would quietly do something else.
 */
import { DeviceArray } from "./engine/device-array.js";
import { PinnedArray } from "./engine/pinned-array.js";
import { scalarBytes } from "./engine/scalars.js";
import { ValidationError } from "./errors.js";

/** The words of a text that spaces separate. */
type Words<S extends string> = S extends `${infer A} ${infer B}`
  ? Words<A> | Words<B>
  : S extends ""
    ? never
    : S;
/** The text S if its words are names of options, which are `Option`. */
export type Names<S extends string, Option> = [Words<S>] extends [Option]
  ? S
  : `no option: ${Exclude<Words<S>, Option>}`;
/** The text S if its words are the names of all options. */
type AllNames<S extends string, Option> = [Option] extends [Words<S>]
  ? Names<S, Option>
  : `lacks ${Option & string}`;

/**
 * Checks that `options` is an object with no other options than `known`, which spaces separate.
 * @param former the former name of one of them, which is taken, and told to nobody
 * @throws ValidationError that names the nearest option, and all
 */
export function checkOptions<Options extends object, const S extends string, F extends string = never>(
  options: Options,
  known: S & AllNames<S, Exclude<keyof Options, F>>,
  former?: F,
): void {
  const all = () => `The options are ${known.replaceAll(/ +/g, ", ")}.`;
  // whatever has elements was meant for something else
  if (typeof options !== "object" || options === null || Symbol.iterator in options || isPlaced(options)) {
    throw new ValidationError(`The options are ${describe(options)}.`, `Give an object. ${all()}`);
  }
  for (const name of Object.keys(options)) {
    const names = known.split(" ");
    if (names.includes(name) || name === former) continue;
    const near = nearestOf(name, names);
    throw new ValidationError(
      `There is no option "${name}" here.`,
      near === undefined ? all() : `Did you mean "${near}"? ${all()}`,
    );
  }
}

/** The name of a list that is nearest to a misspelt one; undefined when more than half of its letters differ. */
export function nearestOf(name: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const other of names) {
    const letters = distance(name.toLowerCase(), other.toLowerCase());
    if (letters >= least || letters > Math.max(name.length, other.length) / 2) continue;
    nearest = other;
    least = letters;
  }
  return nearest;
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

/** Refuses a value that an option or an argument cannot have. @throws ValidationError unless `isRight` */
export function check(isRight: boolean, name: string, value: unknown, fix: string): void {
  if (!isRight) throw new ValidationError(`${name} is ${describe(value)}.`, fix);
}

/**
 * Refuses a value that is none of a list.
 * @param what the list is of, in words
 * @param meant which of the list the value stands for elsewhere
 */
export function checkOneOf(what: string, value: unknown, list: readonly unknown[], meant?: string): void {
  if (list.includes(value)) return;
  const missing = value === undefined || value === null;
  const spelt = typeof value === "string" ? nearestOf(value, list.map(String)) : undefined;
  const near = list.includes(meant) ? meant : spelt;
  throw new ValidationError(
    missing ? `The ${what} is missing.` : `There is no ${what} ${describe(value)}.`,
    `${near ? `Did you mean "${near}"? ` : ""}Use one of ${list.join(", ")}.`,
  );
}

/** Checks a signal, and functions that a call tells something. */
export function checkCallbacks({ signal, ...callbacks }: { signal: unknown; [name: string]: unknown }): void {
  const isSignal =
    signal === undefined || typeof (signal as AbortSignal | null)?.throwIfAborted === "function";
  check(isSignal, "signal", signal, "Give an AbortSignal, such as the signal of an AbortController.");
  for (const [name, callback] of Object.entries(callbacks)) {
    check(callback === undefined || typeof callback === "function", name, callback, "Give a function.");
  }
}

/** Checks an option that is true or false. */
export function checkBoolean(name: string, value: unknown): void {
  check(value === undefined || typeof value === "boolean", name, value, "Give true or false.");
}

/** Checks a count. */
export function checkWhole(name: string, value: unknown, least = 0): void {
  const isWhole = Number.isSafeInteger(value) && (value as number) >= least;
  check(isWhole, name, value, `Give a whole number of at least ${least}.`);
}

/** Checks the type of an array's elements, and how many there are. */
export function checkShape(type: unknown, length: unknown = 0): void {
  checkOneOf("element type", type, Object.keys(scalarBytes));
  checkWhole("length", length);
}

/** The error of a typed array that lost its memory. @internal */
export function detached(message: string): ValidationError {
  return new ValidationError(
    message,
    "Await the call before its arrays are transferred; hand over a pinned array itself, not its `array`.",
  );
}

/**
 * Checks that a typed array has its memory: once its buffer is transferred it looks like an empty one. Its length does
 * not tell: compiled code of V8 11 may still see the old one.
 * @internal
 */
export function checkAttached(name: string, array: ArrayLike<unknown>): void {
  try {
    (array as Uint32Array).at(0); // which the language refuses of an array that has none
  } catch {
    throw detached(`${name} is detached: its buffer was transferred or cut short.`);
  }
}

/**
 * How to write a list of numbers of another type as a typed array; empty where there is no such way.
 * @param name what the caller has it under
 */
export function conversion(name: string, typedArray: string, list: unknown): string {
  if (typeof list !== "object" || list === null || !(Symbol.iterator in list)) return "";
  const [first] = list as Iterable<unknown>;
  const isBig = typeof first === "bigint";
  if (!isBig && !["number", "boolean", "undefined"].includes(typeof first)) return "";
  const toBig = typedArray.startsWith("Big");
  const by =
    typedArray === "Uint8Array" ? ", Boolean" : toBig === isBig ? "" : isBig ? ", Number" : ", BigInt";
  return `Write ${typedArray}.from(${name}${by}).`;
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
  // a bundler shortens the names of classes, and leaves tags
  const tag = (value as { [Symbol.toStringTag]?: string })[Symbol.toStringTag];
  const name = tag ?? value.constructor?.name ?? "object";
  return `${/^[AEIO]/i.test(name) ? "an" : "a"} ${name}`;
}
