/** Small look-ups that are made together go to the engine as one batch, and answer as if each had come alone. */
import { expect, it } from "vitest";
import { StaticMap, StaticSet, ValidationError } from "../../src/index.js";
import { expectSame, rejection } from "./helpers/checks.js";
import { useDevice } from "./helpers/device.js";
import { absentKeys, counting, uniqueKeys } from "./helpers/keys.js";

const device = useDevice();
const COUNT = 1000;

/** The batches that come to the engine: how many keys each has. `fail` lets the next one fail. */
function watch<T extends object, N extends keyof T>(table: T, name: N) {
  const batches: number[] = [];
  let failure: Error | undefined;
  const real = (table[name] as (...args: never[]) => Promise<unknown>).bind(table);
  const watched = async (keys: { length: number }, ...rest: never[]) => {
    batches.push(keys.length);
    if (failure) {
      const error = failure;
      failure = undefined;
      throw error;
    }
    return real(keys as never, ...rest);
  };
  table[name] = watched as T[N];
  return {
    batches,
    fail: (error: Error) => {
      failure = error;
    },
  };
}

async function newMap() {
  const map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 2 * COUNT });
  await map.insert(uniqueKeys(COUNT), counting(COUNT));
  const { engineTable } = map;
  return { map, finds: watch(engineTable, "find"), contains: watch(engineTable, "contains") };
}

it("many finds and contains of few keys are few batches", async () => {
  const { map, finds, contains } = await newMap();
  const keys = uniqueKeys(COUNT);
  const answers = await Promise.all(
    counting(COUNT).reduce<Promise<{ values: Uint32Array; found: Uint8Array }>[]>((calls, i) => {
      calls.push(map.find(Uint32Array.of(keys[i], absentKeys(1)[0])));
      return calls;
    }, []),
  );
  answers.forEach(({ values, found }, i) => {
    expect([...values, ...found]).toEqual([i, 0, 1, 0]);
  });
  expect(finds.batches.length).toBeLessThanOrEqual(2);
  const flags = await Promise.all(Array.from(keys, (key) => map.contains(Uint32Array.of(key))));
  for (const flag of flags) expectSame(flag, Uint8Array.of(1));
  expect(contains.batches.length).toBeLessThanOrEqual(2);
  map.destroy();
});

it("calls of other kinds, or with a change between them, stay apart", async () => {
  const { map, finds, contains } = await newMap();
  const key = absentKeys(1);
  const calls = [
    map.find(key),
    map.find(key, { missing: 7 }),
    map.contains(key),
    map.find(key),
    map.insert(key, Uint32Array.of(5)),
    map.find(key),
    map.find(key, { strategy: "direct", groupSize: 1 }),
    map.erase(key),
    map.find(key, { missing: 8 }),
  ] as const;
  const answers = await Promise.all(calls);
  const values = answers.map((answer) => ("found" in answer ? answer.values[0] : undefined));
  expect(values).toEqual([0, 7, undefined, 0, undefined, 5, 5, undefined, 8]);
  expect([finds.batches.length, contains.batches.length]).toEqual([6, 1]);
  map.destroy();
});

it("each answer is the caller's own, and as long as its keys", async () => {
  const { map, finds } = await newMap();
  const keys = uniqueKeys(100);
  const lengths = [0, 1, 30, 0, 69];
  const starts = [0, 0, 1, 31, 31];
  const parts = lengths.map((length, i) => keys.subarray(starts[i], starts[i] + length));
  const answers = await Promise.all(parts.map((part) => map.find(part)));
  for (const { values } of answers) values.fill(9);
  const again = await Promise.all(parts.map((part) => map.find(part)));
  const values = again.flatMap(({ values }) => [...values]);
  expect(values).toEqual([...counting(100)]);
  expect(again.map(({ found }) => found.length)).toEqual(lengths);
  expect(finds.batches).toHaveLength(2);
  map.destroy();
});

it("no batch has more than 65,536 keys, and a larger call goes alone", async () => {
  const { map, finds } = await newMap();
  const keys = uniqueKeys(40_000);
  await Promise.all([
    map.find(keys),
    map.find(keys),
    map.find(uniqueKeys(20_000)),
    map.find(uniqueKeys(65_537)),
  ]);
  expect(finds.batches).toEqual([40_000, 60_000, 65_537]);
  map.destroy();
});

it("keys that were detached before their turn fail their own call alone", async () => {
  const { map } = await newMap();
  const taken = uniqueKeys(3);
  const calls = [map.find(uniqueKeys(2)), map.find(taken), map.find(uniqueKeys(4))] as const;
  const failing = rejection(calls[1], ValidationError);
  structuredClone(taken, { transfer: [taken.buffer as ArrayBuffer] });
  expect((await failing).message).toContain("detached");
  expectSame((await calls[0]).values, counting(2));
  expectSame((await calls[2]).values, counting(4));
  map.destroy();
});

it("an error of the engine is told to all calls of the batch, and the next ones work", async () => {
  const { map, finds } = await newMap();
  finds.fail(new RangeError("injected"));
  const calls = [map.find(uniqueKeys(1)), map.find(uniqueKeys(2))];
  for (const call of calls) expect((await rejection(call, RangeError)).message).toBe("injected");
  expectSame((await map.find(uniqueKeys(3))).values, counting(3));
  map.destroy();
  await rejection(map.find(uniqueKeys(1)), ValidationError);
});

it("sets and 64-bit keys join as well", async () => {
  using set = await StaticSet.create(device(), { key: "u64", capacity: 100 });
  const keys = BigUint64Array.from({ length: 50 }, (_, i) => 2n ** 40n + BigInt(i));
  await set.insert(keys);
  const finds = watch(set.engineTable, "find");
  const answers = await Promise.all(
    Array.from(keys, (key) => set.find(BigUint64Array.of(key), { missing: 3n })),
  );
  expect(answers.map(({ keys }) => keys[0])).toEqual([...keys]);
  expect(finds.batches.length).toBeLessThanOrEqual(2);
});

it("values for absent keys that print alike stay apart", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 10 });
  const key = absentKeys(1);
  const answers = await Promise.all([0, -0, 0].map((missing) => map.find(key, { missing })));
  expect(answers.map(({ values }) => Object.is(values[0], -0))).toEqual([false, true, false]);
});

it("a look-up after destroy is refused, also where others that were made before still wait", async () => {
  const { map } = await newMap();
  const before = map.find(uniqueKeys(2));
  map.destroy();
  const after = [map.find(uniqueKeys(2)), map.contains(uniqueKeys(2)), map.find(new Uint32Array(0))];
  for (const call of after)
    expect((await rejection(call, ValidationError)).message).toContain("was destroyed");
  expectSame((await before).values, counting(2));
});
