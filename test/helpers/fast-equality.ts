/**
 * `toEqual` and `toStrictEqual` of long arrays: Vitest compares element by element through all its rules, which takes most of
 * the time of some tests. Values found equal here are equal by these rules. All others are left to Vitest, which also words
 * the difference.
 */
import { expect } from "vitest";

/** Of arrays and objects within one another, so that a circle ends. */
const MOST_LEVELS = 8;

expect.addEqualityTesters([(a, b) => (areSame(a, b) ? true : undefined)]);

/** Whether `toEqual` and `toStrictEqual` need not look any further; false: they have to. */
export function areSame(a: unknown, b: unknown, levels = MOST_LEVELS): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return Object.is(a, b);
  const prototype = Object.getPrototypeOf(a);
  if (levels === 0 || prototype !== Object.getPrototypeOf(b)) return false;
  if (ArrayBuffer.isView(a)) return a instanceof DataView ? false : haveSameBytes(a, b as ArrayBufferView);
  if (prototype === Array.prototype) return haveSameElements(a as unknown[], b as unknown[], levels - 1);
  return prototype === Object.prototype && haveSameFields(a, b, levels - 1);
}

function haveSameElements(a: readonly unknown[], b: readonly unknown[], levels: number): boolean {
  if (a.length !== b.length) return false;
  // a hole is not `undefined` to `toStrictEqual`
  for (let i = 0; i < a.length; i++) if (a[i] === undefined || !areSame(a[i], b[i], levels)) return false;
  return true;
}

function haveSameFields(a: object, b: object, levels: number): boolean {
  const names = Object.keys(a);
  if (names.length !== Object.keys(b).length || Object.getOwnPropertySymbols(a).length > 0) return false;
  if (Object.getOwnPropertySymbols(b).length > 0) return false;
  return names.every(
    (name) =>
      Object.hasOwn(b, name) &&
      areSame(a[name as keyof typeof a] as unknown, b[name as keyof typeof b] as unknown, levels),
  );
}

/** Two arrays of numbers of one type. Floats of equal bytes are the same to `Object.is`, too. */
function haveSameBytes(a: ArrayBufferView, b: ArrayBufferView): boolean {
  if (a.byteLength !== b.byteLength) return false;
  const [words, others] = [a, b].map(
    ({ buffer, byteOffset, byteLength }) => new Uint8Array(buffer, byteOffset, byteLength),
  );
  if (typeof Buffer === "function") return Buffer.compare(words, others) === 0;
  return words.every((byte, i) => byte === others[i]);
}
