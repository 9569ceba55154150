/**
 * Checks that look at every element. `expect` itself is slow, on long arrays most, so it is called where something is wrong; and
 * "not all of them" is not "none of them".
 */
import { expect } from "vitest";
import type { Keys } from "../../../src/containers/key-types.js";
import type { MapContainer } from "../../../src/containers/map-container.js";
import type { SetContainer } from "../../../src/containers/set-container.js";
import { canonicalF32 } from "../../../src/engine/float-keys.js";
import { asBits, type Scalar } from "../../../src/engine/scalars.js";
import { onOneTable } from "./device.js";

type Numbers = ArrayLike<number>;
type Bits = ArrayBufferView & { readonly length: number };

/** Every element is `value`. */
export function expectEvery(array: Numbers, value: number): void {
  for (let i = 0; i < array.length; i++) {
    if (!Object.is(array[i], value)) expect({ at: i, value: array[i] }).toEqual({ at: i, value });
  }
}

/** `length` elements, each of them 1. */
export function expectAllSet(flags: Numbers, length: number): void {
  if (flags.length !== length) expect(flags.length).toBe(length);
  expectEvery(flags, 1);
}

/** `length` elements, each of them 0. */
export function expectNoneSet(flags: Numbers, length: number): void {
  if (flags.length !== length) expect(flags.length).toBe(length);
  expectEvery(flags, 0);
}

/** The same numbers in the same order; −0 is not +0. */
export function expectSame(actual: Numbers, expected: Numbers): void {
  if (actual.length !== expected.length) expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    if (!Object.is(actual[i], expected[i])) {
      expect({ at: i, value: actual[i] }).toEqual({ at: i, value: expected[i] });
    }
  }
}

/** The same bits in the same order: NaN payloads count. */
export function expectSameBits(actual: Bits, expected: Bits): void {
  expectSame(asBits(actual), asBits(expected));
}

/** The bit pattern under which a container stores a key of this type. */
export function storedBits(type: Scalar, bits: number): number {
  return type === "f32" ? canonicalF32(bits) : bits;
}

/** Pairs by bit patterns, keys as they are stored: what a map should hold. */
export function pairsByBits(keyType: Scalar, keys: Bits, values: Bits): Map<number, number> {
  const [k, v] = [asBits(keys), asBits(values)];
  return new Map(Array.from(k, (key, i) => [storedBits(keyType, key), v[i]]));
}

/** The map holds exactly these pairs (bit patterns): size, retrieveAll, find and stats all say so. */
export async function expectPairs<K extends Scalar, V extends Scalar>(
  map: MapContainer<K, V>,
  pairs: ReadonlyMap<number, number>,
): Promise<void> {
  expect(map.size).toBe(pairs.size);
  const all = await map.retrieveAll();
  expect(all.values.length).toBe(all.keys.length);
  const [keys, values] = [asBits(all.keys), asBits(all.values)];
  expectUnique(keys);
  expect(keys.length).toBe(pairs.size);
  keys.forEach((key, i) => {
    if (pairs.get(key) !== values[i])
      expect({ key, value: values[i] }).toEqual({ key, value: pairs.get(key) });
  });
  const looked = await map.find(all.keys as unknown as Keys<K>);
  expectAllSet(looked.found, pairs.size);
  expectSame(asBits(looked.values), values);
  await expectSoundStats(map);
}

/** The set holds exactly these keys (bit patterns): size, retrieveAll, contains and stats all say so. */
export async function expectKeys<K extends Scalar>(
  set: SetContainer<K>,
  members: Iterable<number>,
): Promise<void> {
  const expected = new Set(members);
  expect(set.size).toBe(expected.size);
  const all = await set.retrieveAll();
  const keys = asBits(all.keys);
  expectUnique(keys);
  expect(keys.length).toBe(expected.size);
  for (const key of keys) if (!expected.has(key)) expect.unreachable(`key ${key}`);
  expectAllSet(await set.contains(all.keys as unknown as Keys<K>), expected.size);
  await expectSoundStats(set);
}

/** What must hold for the statistics of any table. */
export async function expectSoundStats(
  table: MapContainer<Scalar, Scalar> | SetContainer<Scalar>,
): Promise<void> {
  const { live, tombstones, probeLengths, meanProbeLength, maxProbeLength, slots } = await table.stats();
  expect(live).toBe(table.size);
  expect(tombstones).toBeGreaterThanOrEqual(0);
  // the two side slots are not among `slots`
  if (onOneTable) expect(live + tombstones).toBeLessThanOrEqual(slots + 2);
  const sum = probeLengths.reduce((a, b) => a + b, 0);
  expect(sum).toBe(live);
  if (live === 0) {
    expect([meanProbeLength, maxProbeLength]).toEqual([0, 0]);
    return;
  }
  const longest = probeLengths.findLastIndex((n) => n > 0) + 1;
  if (longest < probeLengths.length) {
    expect(maxProbeLength).toBe(longest);
    const total = probeLengths.reduce((a, n, i) => a + n * (i + 1), 0);
    expect(meanProbeLength).toBeCloseTo(total / live, 3);
  } else {
    expect(maxProbeLength).toBeGreaterThanOrEqual(longest);
  }
  expect(meanProbeLength).toBeLessThanOrEqual(maxProbeLength);
}

/** No key twice. */
export function expectUnique(keys: Numbers): void {
  const seen = new Set<number>();
  for (let i = 0; i < keys.length; i++) {
    if (seen.has(keys[i])) expect.unreachable(`second copy of key ${keys[i]}`);
    seen.add(keys[i]);
  }
}

/** The error a call rejects with; fails when it resolves, or rejects with another class. */
export async function rejection<E extends Error>(
  call: Promise<unknown>,
  errorClass: new (...args: never[]) => E,
): Promise<E> {
  const outcome = await call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if (!("error" in outcome)) return expect.unreachable(`a call that should reject with ${errorClass.name}`);
  expect(outcome.error).toBeInstanceOf(errorClass);
  return outcome.error as E;
}
