/** Random sequences of calls: after each of them the table answers as a plain Map does. fast-check prints seed and path. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type BijectionName, murmur3 } from "../../src/engine/hash.js";
import type { Scalar } from "../../src/engine/scalars.js";
import { asBits } from "../../src/engine/scalars.js";
import { type Device, StaticMap, StaticSet } from "../../src/index.js";
import { isLong, rounds } from "../helpers/rounds.js";
import type { Policy } from "./helpers/bit-table.js";
import { backend, inBrowser, onSoftwareGpu, scaled, useDevice } from "./helpers/device.js";
import { edgePatterns, hashes, keysWithHome, numbers, oddFloats, types, uniqueKeys } from "./helpers/keys.js";
import { Modelled } from "./helpers/model.js";

const device = useDevice();
const RUNS = rounds(backend === "cpu" ? 150 : scaled(500, inBrowser ? 3 : 6));

interface Shape {
  key: Scalar;
  value: Scalar | null;
  capacity: number;
  maxLoadFactor: number;
  hash: BijectionName;
  seed: number;
}

/** One call: elements by their place in a small pool of keys, so that they meet again. */
interface Step {
  call: Policy | "insertAndFind" | "find" | "contains" | "erase" | "clear" | "rehash";
  elements: { pick: number; value: number; chosen: boolean }[];
  masked: boolean;
  number: number;
}

// other kernels than those without a seed: hashing.test.ts has a few sequences of them
const seeds = backend === "cpu" ? [0, 1, 0xfedcba98] : [0];

// on a software GPU another set of kernels for each; hash-functions.test.ts has all of them
const functions =
  onSoftwareGpu && !isLong() ? hashes.filter((name) => name === "murmur3" || name === "identity") : hashes;

const shapes = (isSet: boolean): fc.Arbitrary<Shape> =>
  fc
    .record({
      key: fc.constantFrom(...types),
      value: isSet ? fc.constant(null) : fc.constantFrom(...types),
      capacity: fc.integer({ min: 0, max: 24 }),
      maxLoadFactor: fc.constantFrom(0.3, 0.5, 0.9, 1),
      hash: fc.constantFrom(...functions),
      seed: fc.constantFrom(...seeds),
    })
    .map((shape) => (shape.hash === "identity" ? { ...shape, seed: 0 } : shape));

const step: fc.Arbitrary<Step> = fc.record({
  call: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("keep", "assign", "insertAndFind") },
    { weight: 2, arbitrary: fc.constantFrom("add", "min", "max", "and", "or", "xor") },
    { weight: 4, arbitrary: fc.constantFrom("erase") },
    { weight: 2, arbitrary: fc.constantFrom("find", "contains") },
    { weight: 1, arbitrary: fc.constantFrom("clear", "rehash") },
  ),
  elements: fc.array(
    fc.record({ pick: fc.nat(39), value: fc.integer({ min: -9, max: 9 }), chosen: fc.boolean() }),
    {
      maxLength: 30,
    },
  ),
  masked: fc.boolean(),
  number: fc.nat(20),
});

describe("random sequences", () => {
  for (const kind of ["map", "set"] as const) {
    it(`${RUNS} on a ${kind} agree with a Map`, async () => {
      const sequences = fc.tuple(shapes(kind === "set"), fc.array(step, { minLength: 1, maxLength: 12 }));
      await fc.assert(
        fc.asyncProperty(sequences, async ([shape, steps]) => {
          const model = await create(device(), shape);
          const pool = keyPool(shape, model.table.slots);
          for (const step of steps) await take(model, step, pool, shape);
          await model.expectEqual();
          await model.contains(pool);
          model.table.destroy();
        }),
        { numRuns: RUNS },
      );
    });
  }

  it("of long batches agree with a Map", async () => {
    const [batch, keys] = [scaled(60_000, 15_000), scaled(40_000, 10_000)];
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: keys,
      maxLoadFactor: 0.7,
    });
    const model = Modelled.map(map);
    const calls = [
      "keep",
      "add",
      "erase",
      "assign",
      "insertAndFind",
      "erase",
      "max",
      "keep",
      "find",
    ] as const;
    for (const [round, call] of calls.entries()) {
      const picked = uniqueKeys(batch, round * batch).map((n) => murmur3(n % keys));
      const values = uniqueKeys(batch, 1000 + round * batch);
      const where = round % 2 ? values.map((n) => n & 3) : undefined;
      const mask = where && Uint8Array.from(where);
      if (call === "erase") await model.erase(picked.subarray(0, batch / 3), mask?.subarray(0, batch / 3));
      else if (call === "find") await model.contains(picked, mask);
      else if (call === "insertAndFind") await model.insertAndFind(picked, values, mask);
      else await model.insert(call, picked, values, mask);
    }
    expect(model.rejections).toBe(0);
    await model.expectEqual();
  });
});

async function create(device: Device, shape: Shape): Promise<Modelled> {
  const { value, ...rest } = shape;
  if (value === null) return Modelled.set((await StaticSet.create(device, rest)) as never);
  return Modelled.map((await StaticMap.create(device, { ...rest, value })) as never);
}

/** Forty keys: patterns at the edges, keys that share a home slot, odd floats, and keys without any relation. */
function keyPool({ hash, seed }: Shape, slots: number): Uint32Array {
  const chain = keysWithHome(slots - 1, slots, 8, hash, seed);
  const edges = [0xffffffff, 0xfffffffe, 0, 0x80000000, ...edgePatterns];
  return Uint32Array.of(...edges.slice(0, 12), ...chain, ...oddFloats.subarray(0, 8), ...uniqueKeys(12, 1));
}

async function take(model: Modelled, step: Step, pool: Uint32Array, { key, value }: Shape): Promise<void> {
  const { elements, masked, number } = step;
  const keys = Uint32Array.from(elements, ({ pick }) => pool[pick]);
  const type = value ?? key;
  const values = asBits(
    numbers(
      type,
      elements.map((element) => element.value),
    ),
  );
  const where = masked ? Uint8Array.from(elements, ({ chosen }) => Number(chosen)) : undefined;
  const call = callFor(step.call, value);
  if (call === "insertAndFind") return model.insertAndFind(keys, values, where);
  if (call === "find") return model.find(keys, number, where);
  if (call === "contains") return model.contains(keys, where);
  if (call === "erase") return model.erase(keys, where);
  if (call === "clear") return model.clear();
  if (call === "rehash") return model.rehash(number);
  return model.insert(call, keys, values, where);
}

/** Sets only insert; f32 values have no bitwise operations. */
function callFor(call: Step["call"], value: Scalar | null): Step["call"] {
  const isPolicy = ["assign", "add", "min", "max", "and", "or", "xor"].includes(call);
  if (value === null) return isPolicy ? "keep" : call;
  return value === "f32" && ["and", "or", "xor"].includes(call) ? "add" : call;
}
