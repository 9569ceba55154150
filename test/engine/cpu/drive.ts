/**
 * Random operation sequences: what they are made of, and how one step runs on a table and its model and
 * compares them.
 */
import fc from "fast-check";
import { expect } from "vitest";
import type { CpuTable } from "../../../src/engine/cpu/cpu-table.js";
import type { InsertPolicy } from "../../../src/engine/engine.js";
import { type HashName, hashNames, type OwnHash } from "../../../src/engine/hash-names.js";
import type { TableSpec } from "../../../src/engine/layout.js";
import { arrayClass, asBits, type Scalar } from "../../../src/engine/scalars.js";
import { checkTable } from "../../helpers/check-table.js";
import type { Batch, Model } from "./model.js";

export type AnyTable = CpuTable<Scalar, Scalar>;

/** One operation of a sequence. */
export type Step =
  | { kind: "insert"; policy: InsertPolicy; batch: Batch }
  | { kind: "insertAndFind" | "contains" | "erase"; batch: Batch }
  | { kind: "find"; batch: Batch; missing: number }
  | { kind: "clear" };

/**
 * Keys that crowd a small table: sentinel patterns and their neighbours, NaNs and zeros of f32, and numbers
 * that identity hashing sends to the first, middle and last slot.
 */
export const crowdedKeys: readonly number[] = [
  0, 1, 2, 3, 4, 5, 0x7f800000, 0x7f800001, 0x7fc00000, 0x7fffffff, 0x80000000, 0x80000001, 0x80000002,
  0xff800001, 0xfffffff8, 0xfffffff9, 0xfffffffa, 0xfffffffb, 0xfffffffc, 0xfffffffd, 0xfffffffe, 0xffffffff,
];

const key = fc.constantFrom(...crowdedKeys);
const value = fc.oneof(
  fc.constantFrom(0, 1, 0x7f800001, 0x80000000, 0xffc12345, 0xfffffffe, 0xffffffff),
  fc.nat({ max: 0xffffffff }),
);
const type = fc.constantFrom<Scalar>("u32", "i32", "f32");

function batches(longest: number): fc.Arbitrary<Batch> {
  const element = fc.record({ key, value, mark: fc.constantFrom(0, 1, 2, 255) });
  return fc.tuple(fc.array(element, { maxLength: longest }), fc.boolean()).map(([elements, masked]) => ({
    keys: Uint32Array.from(elements, (e) => e.key),
    values: Uint32Array.from(elements, (e) => e.value),
    where: masked ? Uint8Array.from(elements, (e) => e.mark) : undefined,
  }));
}

export const specs: fc.Arbitrary<TableSpec> = fc.record({
  key: type,
  value: fc.option(type, { freq: 4 }),
  slots: fc.integer({ min: 1, max: 24 }),
  hash: fc.constantFrom<HashName | OwnHash>(...hashNames, { name: "lowBits", js: (word) => word << 30 }),
  seed: fc.constantFrom(0, 0, 1, 0xfedcba98),
});

/** Sequences for tables of `spec`; batches have up to `longest` elements. */
export function sequences(spec: TableSpec, longest: number): fc.Arbitrary<Step[]> {
  const batch = batches(longest);
  const integers: InsertPolicy[] = ["and", "or", "xor"];
  const policies: InsertPolicy[] = [
    "keep",
    "assign",
    "add",
    "min",
    "max",
    ...(spec.value === "f32" ? [] : integers),
  ];
  const insert = fc.record({
    kind: fc.constant("insert" as const),
    policy: fc.constantFrom(...policies),
    batch,
  });
  const step: fc.Arbitrary<Step> = fc.oneof(
    { arbitrary: insert, weight: 5 },
    {
      arbitrary: fc.record({ kind: fc.constantFrom("insertAndFind" as const, "contains" as const), batch }),
      weight: 2,
    },
    { arbitrary: fc.record({ kind: fc.constant("erase" as const), batch }), weight: 4 },
    {
      arbitrary: fc.record({ kind: fc.constant("find" as const), batch, missing: fc.constantFrom(0, 1, 7) }),
      weight: 2,
    },
    { arbitrary: fc.constant<Step>({ kind: "clear" }), weight: 1 },
  );
  return fc.array(step, { minLength: 1, maxLength: 10 });
}

/** Runs a step on both and compares what they answer, then every key that may be there, then the slots. */
export async function runStep(table: AnyTable, model: Model, step: Step): Promise<void> {
  await answerStep(table, model, step);
  const everyKey = {
    keys: Uint32Array.from([...crowdedKeys, ...model.entries.keys()]),
    values: new Uint32Array(0),
    where: undefined,
  };
  await answerStep(table, model, { kind: "find", batch: everyKey, missing: 3 });
  await expectEntries(table, model);
}

/** The slots are as layout.ts says and hold the model's entries, and retrieveAll brings them all. */
export async function expectEntries(table: AnyTable, model: Model): Promise<void> {
  expectSameEntries(checkTable(table), model.entries);
  const { keys, values } = await table.retrieveAll("host", {});
  const keyBits = asBits(keys as Uint32Array);
  const valueBits = values === null ? new Uint32Array(keys.length) : asBits(values as Uint32Array);
  const retrieved = new Map(Array.from(keyBits, (k, i) => [k, valueBits[i]]));
  if (keyBits.length !== model.entries.size) expect(keyBits.length).toBe(model.entries.size);
  expectSameEntries(retrieved, model.entries);
}

function expectSameEntries(actual: Map<number, number>, expected: Map<number, number>): void {
  if (actual.size === expected.size && [...actual].every(([k, v]) => expected.get(k) === v)) return;
  expect(actual).toEqual(expected);
}

async function answerStep(table: AnyTable, model: Model, step: Step): Promise<void> {
  if (step.kind === "clear") {
    model.entries.clear();
    return table.clear();
  }
  const { batch } = step;
  const { where } = batch;
  const keys = typed(table.spec.key as Scalar, batch.keys);
  const values = table.spec.value === null ? null : typed(table.spec.value as Scalar, batch.values);
  if (step.kind === "insert") {
    const { inserted, existing, rejected } = model.insert(batch, step.policy);
    expect(await table.insert(keys, values, step.policy, { where })).toEqual({
      inserted,
      existing,
      rejected,
    });
  } else if (step.kind === "insertAndFind") {
    const { flags, stored, ...tally } = model.insert(batch, "keep");
    const answer = await table.insertAndFind(keys, values, "host", { where });
    expect(answer).toMatchObject(tally);
    expectSame(answer.insertedFlags as Uint8Array, flags);
    if (values === null) expect(answer.values).toBe(null);
    else expectSame(asBits(answer.values as Uint32Array), stored);
  } else if (step.kind === "find") {
    const missing = typed((table.spec.value ?? table.spec.key) as Scalar, new Uint32Array(1));
    missing[0] = step.missing;
    const expected = model.find(batch, asBits(missing)[0]);
    const answer = await table.find(keys, step.missing, "host", { where });
    expectSame(answer.found as Uint8Array, expected.found);
    expectSame(asBits(answer.values as Uint32Array), expected.values);
  } else if (step.kind === "contains") {
    expectSame((await table.contains(keys, "host", { where })) as Uint8Array, model.find(batch, 0).found);
  } else {
    expect(await table.erase(keys, { where })).toBe(model.erase(batch));
  }
}

function typed<T extends Scalar>(type: T, bits: Uint32Array) {
  return new arrayClass[type](bits.buffer, bits.byteOffset, bits.length);
}

/** Without `expect` where nothing is wrong: it takes longer than a step. */
export function expectSame(actual: Uint32Array | Uint8Array, expected: Uint32Array | Uint8Array): void {
  if (actual.length !== expected.length) expect(actual.length).toBe(expected.length);
  for (let i = 0; i < expected.length; i++) {
    if (actual[i] !== expected[i]) expect({ at: i, value: actual[i] }).toEqual({ at: i, value: expected[i] });
  }
}
