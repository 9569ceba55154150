/** warpmap/wgsl: users' kernels that change a table. Runs in Node and, from test/browser, in a page. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asBits } from "../../src/engine/scalars.js";
import { type DeviceArray, DynamicMap, StaticMap, StaticSet } from "../../src/index.js";
import { type TableModule, tableModule } from "../../src/wgsl/index.js";
import {
  expectAllSet,
  expectNoneSet,
  expectPairs,
  expectSame,
  expectSoundStats,
} from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../conformance/helpers/keys.js";
import {
  arrayEntries,
  bindGroup,
  computePipeline,
  dispatch,
  gpuOf,
} from "../engine/webgpu/helpers/compute.js";
import { rounds } from "../helpers/rounds.js";

const device = useDevice();

const [INSERT, ERASE, CONTAINS, ASSIGN, ADD, FIND] = [0, 1, 2, 3, 4, 5];
const [FULL, INSERTED, EXISTING] = [0, 1, 2];

/** Operations of one invocation, in its order. */
const OPS = 4;

/** Runs operations, OPS an invocation, on a table: a kernel of a user's. */
class Runner {
  private constructor(
    readonly module: TableModule,
    private readonly pipeline: GPUComputePipeline,
  ) {}

  /** @param change changes the module's text */
  static async create(
    container: StaticMap | DynamicMap | StaticSet | StaticMap<"u32", "i32">,
    change = (code: string) => code,
  ): Promise<Runner> {
    const module = tableModule(container as StaticMap, { access: "read_write", prefix: "t" });
    const isSet = container instanceof StaticSet;
    const type = isSet ? "u32" : (container as StaticMap).valueType;
    const value = `bitcast<${type}>(values[i])`;
    const ofMap = `
      case ${ASSIGN}u: { answer = t_insertOrAssign(key, ${value}); }
      case ${ADD}u: { answer = t_insertOrAdd(key, ${value}); }
      case ${FIND}u: { answer = bitcast<u32>(t_find(key).value); }`;
    const code = `
      @group(0) @binding(0) var<storage, read> ops: array<u32>;
      @group(0) @binding(1) var<storage, read> keys: array<u32>;
      @group(0) @binding(2) var<storage, read> values: array<u32>;
      @group(0) @binding(3) var<storage, read_write> answers: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        for (var op = 0u; op < ${OPS}u; op++) {
          let i = id.x * ${OPS}u + op;
          if (i >= arrayLength(&ops)) { return; }
          _ = arrayLength(&values);
          let key = keys[i];
          var answer = 0u;
          switch ops[i] {
            case ${INSERT}u: { answer = t_insert(${isSet ? "key" : `key, ${value}`}); }
            case ${ERASE}u: { answer = u32(t_erase(key)); }
            case ${CONTAINS}u: { answer = u32(t_contains(key)); }
            ${isSet ? "" : ofMap}
            default: {}
          }
          answers[i] = answer;
        }
      }`;
    return new Runner(module, await computePipeline(gpuOf(device()), change(module.code) + code));
  }

  /** What each operation answers. */
  async run(ops: Uint32Array, keys: Uint32Array, values = keys): Promise<Uint32Array> {
    using a = await device().upload(ops);
    using b = await device().upload(keys);
    using c = await device().upload(values);
    using answers = await device().allocate("u32", ops.length);
    const gpu = gpuOf(device());
    const mine = bindGroup(gpu, this.pipeline, 0, arrayEntries([a, b, c, answers] as DeviceArray[]));
    const table = bindGroup(gpu, this.pipeline, this.module.group, this.module.entries());
    await dispatch(gpu, this.pipeline, [mine, table], Math.ceil(ops.length / OPS / 64));
    return answers.read();
  }

  /** The same operation on each key. */
  all(op: number, keys: Uint32Array, values?: Uint32Array): Promise<Uint32Array> {
    return this.run(new Uint32Array(keys.length).fill(op), keys, values);
  }
}

/** An operation on one key, and what it answered. */
interface Step {
  readonly op: number;
  readonly answer: number;
}

/** The presence of a key after an operation that answered so; null where it cannot have, if the key was there or not. */
function after(present: boolean, { op, answer }: Step): boolean | null {
  if (op === INSERT) {
    if (answer === FULL) return null;
    return (answer === EXISTING) === present ? true : null;
  }
  if ((answer === 1) !== present) return null;
  return op === ERASE ? false : present;
}

/** Whether the operations of several invocations on one key have an order, one after another, that gives their answers and its presence. */
function hasOrder(sequences: readonly (readonly Step[])[], before: boolean, atEnd: boolean): boolean {
  const seen = new Set<string>();
  const search = (places: readonly number[], present: boolean): boolean => {
    const state = `${places} ${present}`;
    if (seen.has(state)) return false;
    seen.add(state);
    if (places.every((place, i) => place === sequences[i].length)) return present === atEnd;
    return sequences.some((sequence, i) => {
      if (places[i] === sequence.length) return false;
      const next = after(present, sequence[places[i]]);
      return next !== null && search(places.with(i, places[i] + 1), next);
    });
  };
  return search(
    sequences.map(() => 0),
    before,
  );
}

/** Every answer about every key is one that some order of the operations gives. */
function expectSomeOrder(
  { ops, keys, answers }: { ops: Uint32Array; keys: Uint32Array; answers: Uint32Array },
  before: ReadonlySet<number>,
  now: ReadonlySet<number>,
): void {
  const byKey = new Map<number, Map<number, Step[]>>();
  for (const [i, key] of keys.entries()) {
    const invocations = byKey.get(key) ?? new Map<number, Step[]>();
    byKey.set(key, invocations);
    const steps = invocations.get(Math.floor(i / OPS)) ?? [];
    invocations.set(Math.floor(i / OPS), steps);
    steps.push({ op: ops[i], answer: answers[i] });
  }
  for (const [key, invocations] of byKey) {
    const sequences = [...invocations.values()];
    if (!hasOrder(sequences, before.has(key), now.has(key))) {
      expect.unreachable(
        `no order of ${JSON.stringify(sequences)} on key ${key}, ${before.has(key)} before and ${now.has(key)} after`,
      );
    }
  }
}

/** Keys that collide, wrap around the table's end, and equal sentinels, beside some that do not. */
function oddKeys(slots: number): Uint32Array {
  const colliding = keysWithHome(slots - 3, slots, 24);
  return Uint32Array.of(0xffffffff, 0xfffffffe, 0, 1, ...colliding, ...uniqueKeys(100, 77));
}

describe("a kernel that inserts, finds and erases in one dispatch", () => {
  it("answers what some order of its calls would, and the host goes on with the table that it left", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 600 });
    const runner = await Runner.create(map);
    const pool = oddKeys(map.slots);
    const mix = fc.array(
      fc.tuple(fc.constantFrom(INSERT, INSERT, ERASE, CONTAINS), fc.nat(pool.length - 1)),
      {
        minLength: 400,
        maxLength: 800,
      },
    );
    await fc.assert(
      fc.asyncProperty(mix, async (calls) => {
        await map.clear();
        await map.insert(pool.subarray(0, 60), pool.subarray(0, 60));
        for (let round = 0; round < 2; round++) {
          const before = new Set((await map.retrieveAll()).keys);
          const ops = Uint32Array.from(calls, ([op]) => op);
          const keys = Uint32Array.from(calls, ([, i]) => pool[i]);
          const answers = await runner.run(ops, keys);
          await runner.module.sync();
          const { size } = map;
          const all = await map.retrieveAll();
          expect(all.keys.length).toBe(size);
          expectSame(all.values, all.keys);
          expectSomeOrder({ ops, keys, answers }, before, new Set(all.keys));
          await expectSoundStats(map);
          expectAllSet(await map.contains(all.keys), size);
        }
        await map.insert(pool, pool);
        await expectPairs(map, new Map(Array.from(pool, (key) => [key, key])));
        await map.erase(pool);
        expect(map.size).toBe(0);
        expectNoneSet(await map.contains(pool), pool.length);
      }),
      { numRuns: rounds(3), endOnFailure: true },
    );
  });

  it("has one winner where all invocations insert, or erase, the same few keys", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 40 });
    const runner = await Runner.create(set);
    const few = Uint32Array.of(0xffffffff, 0xfffffffe, 5, 6, ...keysWithHome(79, 80, 4));
    // neighbours have the same key: they meet it together
    const keys = Uint32Array.from({ length: 4096 }, (_, i) => few[(i >> 6) % few.length]);
    const count = (answers: Uint32Array, answer: number) => answers.filter((each) => each === answer).length;
    for (let round = 0; round < 3; round++) {
      const inserted = await runner.all(INSERT, keys);
      expect([count(inserted, INSERTED), count(inserted, EXISTING)]).toEqual([8, 4088]);
      await runner.module.sync();
      expect(set.size).toBe(8);
      expectAllSet(await runner.all(CONTAINS, few), 8);
      expect(count(await runner.all(ERASE, keys), 1)).toBe(8);
      expectNoneSet(await runner.all(CONTAINS, few), 8);
    }
    expect(await set.stats()).toMatchObject({ live: 0, tombstones: 18 });
  });

  it("bears compare-exchanges that fail for no reason", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 300 });
    const runner = await Runner.create(map, (code) => {
      const weak = code.replace(
        /(fn t_compareExchange\([^)]*\)\s*->\s*t_Claim\s*\{)/,
        "var<private> calls: u32;\n$1 calls++; if (calls % 3u != 0u) { return t_Claim(expected, false); }",
      );
      expect(weak).not.toBe(code);
      return weak;
    });
    const keys = Uint32Array.from({ length: 1200 }, (_, i) => oddKeys(600)[i % 120]);
    const answers = await runner.all(INSERT, keys);
    expect(answers.filter((answer) => answer === INSERTED).length).toBe(120);
    expect(answers.filter((answer) => answer === EXISTING).length).toBe(1080);
    expect((await runner.all(ERASE, keys)).filter(Boolean).length).toBe(120);
    await runner.module.sync();
    expect(map.size).toBe(0);
  });
});

describe("values that kernels write", () => {
  it("are the value of one of the calls that insert or assign", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 300 });
    const runner = await Runner.create(map);
    const keys = Uint32Array.from({ length: 2000 }, (_, i) => oddKeys(600)[i % 100]);
    await runner.all(INSERT, keys, counting(2000));
    const first = await map.find(keys.subarray(0, 100));
    first.values.forEach((value, i) => {
      expect([value % 100, value < 2000]).toEqual([i, true]);
    });
    expectSame(await runner.all(FIND, keys.subarray(0, 100)), first.values);
    const again = await runner.all(INSERT, keys, counting(2000, 5000));
    expect(again.every((answer) => answer === EXISTING)).toBe(true);
    expectSame((await map.find(keys.subarray(0, 100))).values, first.values);
    await runner.all(ASSIGN, keys, counting(2000, 10_000));
    (await map.find(keys.subarray(0, 100))).values.forEach((value, i) => {
      expect([value % 100, value >= 10_000]).toEqual([i, true]);
    });
  });

  for (const type of ["u32", "i32"] as const) {
    it(`are exact sums of ${type}, of keys that were there and of new ones, also where keys were erased`, async () => {
      using map = await StaticMap.create(device(), { key: "u32", value: type, capacity: 300 });
      const runner = await Runner.create(map as StaticMap);
      const pool = oddKeys(600).subarray(0, 100);
      const keys = Uint32Array.from({ length: 3000 }, (_, i) => pool[i % 100]);
      const values = Uint32Array.from({ length: 3000 }, (_, i) => (Math.imul(i, 0x9e3779b1) >>> 3) - 7);
      const sums = new Map<number, number>();
      const add = () => {
        for (const [i, key] of keys.entries()) sums.set(key, ((sums.get(key) ?? 0) + values[i]) >>> 0);
      };
      const expectSums = async () => {
        const found = asBits((await map.find(pool)).values);
        expectSame(found, [...pool].map((key) => sums.get(key)) as number[]);
      };
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
      // sentinels' side slots are used again, by the host's erase and by a kernel's
      await map.erase(pool);
      await runner.all(ADD, keys, values);
      sums.clear();
      add();
      await expectSums();
      await runner.all(ERASE, pool);
      await runner.all(ADD, keys, values);
      sums.clear();
      add();
      await expectSums();
      await map.rehash();
      await runner.all(ADD, keys, values);
      add();
      await expectSums();
    });
  }
});

describe("a table that kernels fill", () => {
  it("is full when no slot is free, says so, and holds what went in", async () => {
    using set = await StaticSet.create(device(), { key: "u32", capacity: 50, maxLoadFactor: 1 });
    const runner = await Runner.create(set);
    const keys = uniqueKeys(80);
    const answers = await runner.all(INSERT, keys);
    expect(answers.filter((answer) => answer === INSERTED).length).toBe(50);
    expect(answers.filter((answer) => answer === FULL).length).toBe(30);
    expectAllSet(await runner.all(INSERT, Uint32Array.of(0xffffffff, 0xfffffffe)), 2);
    await runner.module.sync();
    expect(set.size).toBe(52);
    expectSame(
      await set.contains(keys),
      answers.map((answer) => Number(answer === INSERTED)),
    );
    const [inside] = keys.filter((_, i) => answers[i] === INSERTED);
    expectSame(await runner.all(INSERT, Uint32Array.of(inside)), [EXISTING]);
    expectSame(await runner.all(ERASE, Uint32Array.of(inside)), [1]);
    // what a kernel erased is free again for the host's inserts
    expectSame(await runner.all(INSERT, absentKeys(1)), [FULL]);
    expect(await set.insert(absentKeys(1))).toEqual({ inserted: 1, existing: 0 });
  });

  it("is not taken for one whose entries are in the order of their homes", async () => {
    using map = await StaticMap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 1000,
      maxLoadFactor: 0.95,
    });
    const runner = await Runner.create(map);
    const keys = uniqueKeys(1000);
    await runner.all(INSERT, keys, counting(1000));
    await runner.module.sync();
    await expectPairs(map, new Map(Array.from(keys, (key, i) => [key, i])));
    expectNoneSet(await map.contains(absentKeys(2000)), 2000);
  });

  it("grows at the next insert of the host, with new entries for the kernel", async () => {
    using map = await DynamicMap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    const runner = await Runner.create(map);
    const keys = uniqueKeys(150);
    expectAllSet(await runner.all(INSERT, keys, counting(150)), 150);
    await map.insert(uniqueKeys(300), counting(300, 1000));
    const expected = counting(300).map((i) => (i < 150 ? i : 1000 + i));
    expectSame((await map.find(uniqueKeys(300))).values, expected);
    expect(map.size).toBe(300);
    expectAllSet(await runner.all(INSERT, absentKeys(9)), 9);
    await runner.module.sync();
    expect(map.size).toBe(309);
  });
});

describe("reading tables of keys and values of 64 bits", () => {
  for (const [key, value] of [
    ["u64", "u64"],
    ["u64", "f32"],
    ["u32", "u64"],
  ] as const) {
    it(`finds ${value} values of ${key} keys`, async () => {
      using map = await StaticMap.create(device(), { key, value, capacity: 500, maxLoadFactor: 0.9 });
      const wide = (words: Uint32Array) =>
        BigUint64Array.from(words, (word, i) => (BigInt(word) << 32n) | BigInt(i % 7));
      const words = Uint32Array.of(0xffffffff, 0xfffffffe, 0, ...uniqueKeys(400));
      const asked = Uint32Array.of(...words, ...absentKeys(300));
      const keysOf = (words: Uint32Array) => (key === "u64" ? wide(words) : words);
      const values = value === "u64" ? wide(uniqueKeys(403, 9000)) : Float32Array.from(counting(403));
      await map.insert(keysOf(words) as never, values as never);
      const module = tableModule(map, { prefix: "wide" });
      const [keyType, valueType] = [key, value].map((type) => (type === "u64" ? "vec2u" : type));
      const pipeline = await computePipeline(
        gpuOf(device()),
        `${module.code}
        @group(0) @binding(0) var<storage, read> keys: array<${keyType}>;
        @group(0) @binding(1) var<storage, read_write> values: array<${valueType}>;
        @group(0) @binding(2) var<storage, read_write> found: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
          if (id.x >= arrayLength(&keys)) { return; }
          let result: wide_Result = wide_find(keys[id.x]);
          values[id.x] = result.value;
          found[id.x] = u32(result.found && wide_contains(keys[id.x]));
        }`,
      );
      using input = await device().upload(keysOf(asked));
      using answer = await device().allocate(value, asked.length);
      using found = await device().allocate("u32", asked.length);
      const gpu = gpuOf(device());
      const mine = bindGroup(gpu, pipeline, 0, arrayEntries([input, answer, found] as DeviceArray[]));
      const table = bindGroup(gpu, pipeline, module.group, module.entries());
      await dispatch(gpu, pipeline, [mine, table], Math.ceil(asked.length / 64));
      const host = await map.find(keysOf(asked) as never);
      expectSame(await found.read(), host.found);
      expectSame(asBits((await answer.read()) as Float32Array), asBits(host.values));
      expect(host.found.filter(Boolean).length).toBe(403);
    });
  }
});
