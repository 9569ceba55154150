/** warpmap/wgsl: users' kernels that read multimaps and multisets. Runs in Node and, from test/browser, in a page. */
import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { asBits, type BasicType, scalarWords } from "../../src/engine/scalars.js";
import { type DeviceArray, openDevice, StaticMap, StaticMultimap, StaticMultiset } from "../../src/index.js";
import { type TableModule, tableModule } from "../../src/wgsl/index.js";
import { expectSame } from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";
import { counting, uniqueKeys } from "../conformance/helpers/keys.js";
import {
  arrayEntries,
  bindGroup,
  computePipeline,
  dispatch,
  gpuOf,
} from "../engine/webgpu/helpers/compute.js";
import { rounds } from "../helpers/rounds.js";

const device = useDevice();

type Column = Uint32Array<ArrayBuffer> | Float32Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

const isWide = (type: BasicType) => scalarWords[type] === 2;
const wgslType = (type: BasicType) => (isWide(type) ? "vec2u" : type);

/** The element with a number, such that those of 64 bits differ in one word as often as in the other. */
function elements(type: BasicType, numbers: readonly number[]): Column {
  if (type === "f32") return Float32Array.from(numbers);
  if (type === "u32")
    return Uint32Array.from(numbers, (n) => (n === 0 ? 0xffffffff : n === 1 ? 0xfffffffe : n));
  return BigUint64Array.from(numbers, (n) => (BigInt(n >> 1) << 32n) | (n % 2 === 0 ? 0xffffffffn : 5n));
}

/** What a kernel saw of a key: bit patterns of its values, in ascending order. */
interface Seen {
  readonly byForEach: readonly bigint[];
  readonly byNumber: readonly bigint[];
  /** What find answered. */
  readonly one: bigint | null;
}

/** A user's kernel that reads all entries of keys. */
class Reader {
  private constructor(
    private readonly module: TableModule,
    private readonly pipeline: GPUComputePipeline,
  ) {}

  static async create<K extends BasicType, V extends BasicType>(map: StaticMultimap<K, V>): Promise<Reader> {
    const module = tableModule(map, { prefix: "m" });
    const value = wgslType(map.valueType);
    const code = `${module.code}
      @group(0) @binding(0) var<storage, read> keys: array<${wgslType(map.keyType)}>;
      @group(0) @binding(1) var<storage, read> offsets: array<u32>;
      @group(0) @binding(2) var<storage, read_write> results: array<vec4u>;
      @group(0) @binding(3) var<storage, read_write> out: array<vec4u>;
      fn words(value: ${value}) -> vec2u { return ${isWide(map.valueType) ? "value" : "vec2u(bitcast<u32>(value), 0u)"}; }
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        if (id.x >= arrayLength(&keys)) { return; }
        let key = keys[id.x];
        let start = offsets[id.x];
        let count = offsets[id.x + 1u] - start;
        let matches: m_Matches = m_matches(key);
        var isRight = m_count(key) == count && matches.length == count && m_contains(key) == (count > 0u);
        var step = 0u;
        for (var entry = m_first(key); entry.found; entry = m_next(entry)) {
          if (step < count) { out[start + step] = vec4u(words(entry.value), words(m_valueAt(matches, step))); }
          step++;
        }
        isRight = isRight && step == count && all(words(m_valueAt(matches, count)) == vec2u());
        let one: m_Result = m_find(key);
        results[id.x] = vec4u(u32(isRight), u32(one.found), words(one.value));
      }`;
    return new Reader(module, await computePipeline(gpuOf(device()), code));
  }

  /** @param counts how many entries each key is to have: the kernel compares them with `count`, `matches` and its steps. */
  async read(keys: Column, counts: readonly number[]): Promise<Seen[]> {
    const offsets = new Uint32Array(keys.length + 1);
    counts.forEach((count, i) => {
      offsets[i + 1] = offsets[i] + count;
    });
    using a = await device().upload(keys as Uint32Array);
    using b = await device().upload(offsets);
    using results = await device().allocate("u32", 4 * keys.length);
    using out = await device().allocate("u32", 4 * Math.max(1, offsets[keys.length]));
    const gpu = gpuOf(device());
    const mine = bindGroup(gpu, this.pipeline, 0, arrayEntries([a, b, results, out] as DeviceArray[]));
    const table = bindGroup(gpu, this.pipeline, this.module.group, this.module.entries());
    await dispatch(gpu, this.pipeline, [mine, table], Math.ceil(keys.length / 64));
    const words = await results.read();
    const all = await out.read();
    const values = (i: number, shift: number) =>
      Array.from({ length: counts[i] }, (_, j) => wideAt(all, 4 * (offsets[i] + j) + shift)).sort(ascending);
    return counts.map((_, i) => {
      expect(words[4 * i], `counts of key ${i}`).toBe(1);
      const one = words[4 * i + 1] === 1 ? wideAt(words, 4 * i + 2) : null;
      return { byForEach: values(i, 0), byNumber: values(i, 2), one };
    });
  }
}

const wideAt = (words: Uint32Array, at: number) => BigInt(words[at]) | (BigInt(words[at + 1]) << 32n);
const ascending = (a: bigint, b: bigint) => Number(a > b) - Number(a < b);

function bitsOf(column: Column): bigint[] {
  return column instanceof BigUint64Array ? [...column] : Array.from(asBits(column), BigInt);
}

describe("the module of a multimap", () => {
  for (const [key, value] of [
    ["u64", "f32"],
    ["f32", "u64"],
  ] as const) {
    it(`reads all ${value} values of ${key} keys, whatever the host has made of them`, async () => {
      const keyCount = 12;
      const asked = [...Array(keyCount + 3).keys()];
      using map = await StaticMultimap.create(device(), { key, value, capacity: 900, keyCapacity: 40 });
      const reader = await Reader.create(map);
      const pairs = fc.array(fc.tuple(fc.nat(keyCount - 1), fc.nat(20)), { minLength: 1, maxLength: 60 });
      const step = fc.record({
        op: fc.constantFrom("insert", "insert", "insert", "erase", "erasePairs", "rehash"),
        pairs,
        // a key with many entries has a list of many pieces
        times: fc.constantFrom(1, 1, 4),
      });
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 7 }), async (steps) => {
          await map.clear();
          const model = new Map<number, number[]>();
          for (const { op, pairs, times } of steps) {
            const keys = elements(
              key,
              pairs.map(([k]) => k),
            );
            const values = elements(
              value,
              pairs.map(([, v]) => v),
            );
            if (op === "insert") {
              for (let i = 0; i < times; i++) {
                await map.insert(keys as never, values as never);
                for (const [k, v] of pairs) model.set(k, [...(model.get(k) ?? []), v]);
              }
            } else if (op === "erase") {
              await map.erase(keys.subarray(0, 2) as never);
              for (const [k] of pairs.slice(0, 2)) model.delete(k);
            } else if (op === "erasePairs") {
              await map.erasePairs(keys as never, values as never);
              for (const [k, v] of pairs)
                model.set(
                  k,
                  (model.get(k) ?? []).filter((other) => other !== v),
                );
            } else await map.rehash();
            const expected = asked.map((k) => model.get(k) ?? []);
            const seen = await reader.read(
              elements(key, asked),
              expected.map(({ length }) => length),
            );
            seen.forEach(({ byForEach, byNumber, one }, i) => {
              const values = bitsOf(elements(value, expected[i])).sort(ascending);
              expect(byForEach).toEqual(values);
              expect(byNumber).toEqual(values);
              expect(one === null ? values.length === 0 : values.includes(one)).toBe(true);
            });
          }
        }),
        { numRuns: rounds(3), endOnFailure: true },
      );
    });
  }

  it("reads lists of many pieces", async () => {
    using map = await StaticMultimap.create(device(), {
      key: "u32",
      value: "u32",
      capacity: 6000,
      keyCapacity: 8,
    });
    const reader = await Reader.create(map);
    const expected: number[] = [];
    for (let size = 1; expected.length + size < 5000; size = Math.ceil(size * 1.6)) {
      const values = counting(size, 10 * expected.length);
      await map.insert(new Uint32Array(size).fill(7), values);
      expected.push(...values);
      const [{ byForEach, byNumber }] = await reader.read(Uint32Array.of(7), [expected.length]);
      const all = expected.map(BigInt).sort(ascending);
      expect(byForEach).toEqual(all);
      expect(byNumber).toEqual(all);
    }
    expect(expected.length).toBeGreaterThan(3000);
  });

  it("refuses bind groups of buffers that the multimap has given up", async () => {
    using map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 100 });
    await map.insert(uniqueKeys(50), counting(50));
    const module = tableModule(map);
    const gpu = gpuOf(device());
    const pipeline = await computePipeline(
      gpu,
      `${module.code}
      @group(0) @binding(0) var<storage, read_write> sum: atomic<u32>;
      @compute @workgroup_size(1) fn main() { atomicAdd(&sum, map_valueAt(map_matches(3u), 0u)); }`,
    );
    using sum = await device().allocate("u32", 1);
    const mine = bindGroup(gpu, pipeline, 0, arrayEntries([sum] as DeviceArray[]));
    const old = bindGroup(gpu, pipeline, module.group, module.entries());
    await dispatch(gpu, pipeline, [mine, old], 1);
    await map.rehash();
    await expect(dispatch(gpu, pipeline, [mine, old], 1)).rejects.toThrow(/destroyed/);
    await dispatch(gpu, pipeline, [mine, bindGroup(gpu, pipeline, module.group, module.entries())], 1);
  });
});

describe("the module of a multiset", () => {
  // a stage of a browser has 8 to 10 storage buffers
  it("counts keys, beside the module of a map in one shader", async () => {
    using bag = await StaticMultiset.create(device(), {
      key: "f32",
      capacity: 2000,
      hash: "xxhash32",
      seed: 5,
    });
    using prices = await pricesOf(10);
    await bag.insert(Float32Array.from({ length: 1000 }, (_, i) => [Number.NaN, -0, i % 7][i % 3]));
    await bag.erase(Float32Array.of(5));
    const modules = [
      tableModule(bag, { prefix: "bag", group: 0, binding: 2 }),
      tableModule(prices, { prefix: "prices", group: 0, binding: 5 }),
    ];
    expect(modules.map(bindingsOf)).toEqual([
      [2, 3, 4],
      [5, 6],
    ]);
    const asked = Float32Array.of(Number.NaN, 0, 1, 2, 3, 4, 5, 6, 7, -0, 1.5);
    const answers = await answersOf(
      modules,
      "f32",
      asked,
      `let found: bag_Result = bag_find(key);
      let count = bag_count(key) + 10000u * u32(found.found && bag_contains(key));
      return vec2f(f32(count), prices_find(id % 10u).value);`,
    );
    const host = await bag.count(asked);
    expect(host.filter(Boolean).length).toBeGreaterThan(5);
    const each = [...host].flatMap((count, i) => [count + (count > 0 ? 10_000 : 0), (i % 10) / 4]);
    expectSame(answers, Float32Array.from(each));
  });
});

describe("the module of a multimap", () => {
  it("adds up what a map says of the values of a key, in one shader with it", async () => {
    using prices = await pricesOf(10);
    using parts = await StaticMultimap.create(device(), { key: "u64", value: "u32", capacity: 50 });
    const numbers = counting(30);
    await parts.insert(
      BigUint64Array.from(numbers, (i) => BigInt(i % 3)),
      numbers,
    );
    const modules = [
      tableModule(prices, { prefix: "prices", group: 0, binding: 2 }),
      tableModule(parts, { prefix: "parts", group: 0, binding: 4 }),
    ];
    expect(modules.map(bindingsOf)).toEqual([
      [2, 3],
      [4, 5, 6, 7, 8],
    ]);
    const answers = await answersOf(
      modules,
      "u32",
      counting(5),
      `var cost = 0.0;
      for (var part = parts_first(vec2u(key, 0u)); part.found; part = parts_next(part)) {
        cost += prices_find(part.value % 10u).value;
      }
      return vec2f(cost, f32(parts_count(vec2u(key, 0u))));`,
    );
    const cost = (key: number) =>
      [...numbers].filter((i) => i % 3 === key).reduce((sum, i) => sum + (i % 10) / 4, 0);
    expectSame(answers, Float32Array.from([0, 1, 2, 3, 4].flatMap((key) => [cost(key), key < 3 ? 10 : 0])));
  });
});

/** Prices of the numbers below `below`. */
async function pricesOf(below: number): Promise<StaticMap<"u32", "f32">> {
  const prices = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 50 });
  const keys = counting(below);
  await prices.insert(
    keys,
    Float32Array.from(keys, (i) => i / 4),
  );
  return prices;
}

const bindingsOf = ({ layoutEntries }: TableModule) => layoutEntries.map(({ binding }) => binding);

/** What a kernel answers, which calls the functions of modules of group 0 from binding 2 on. `body`: of a function of `key` and `id`. */
async function answersOf(
  modules: readonly TableModule[],
  type: "f32" | "u32",
  keys: Float32Array | Uint32Array,
  body: string,
): Promise<Float32Array> {
  const gpu = gpuOf(device());
  const code = `${modules.map(({ code }) => code).join("\n")}
    @group(0) @binding(0) var<storage, read> keys: array<${type}>;
    @group(0) @binding(1) var<storage, read_write> results: array<vec2f>;
    fn answer(key: ${type}, id: u32) -> vec2f {
      ${body}
    }
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
      if (id.x < arrayLength(&keys)) { results[id.x] = answer(keys[id.x], id.x); }
    }`;
  const layout = gpu.createBindGroupLayout({
    entries: [
      { binding: 0, visibility: 4, buffer: { type: "read-only-storage" } },
      { binding: 1, visibility: 4, buffer: { type: "storage" } },
      ...modules.flatMap(({ layoutEntries }) => layoutEntries),
    ],
  });
  const pipeline = await gpu.createComputePipelineAsync({
    layout: gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
    compute: { module: gpu.createShaderModule({ code }) },
  });
  using asked = await device().upload(keys);
  using results = await device().allocate("f32", 2 * keys.length);
  const mine = arrayEntries([asked, results] as DeviceArray[]);
  const entries = [...mine, ...modules.flatMap((module) => module.entries())];
  await dispatch(gpu, pipeline, [gpu.createBindGroup({ layout, entries })], 1);
  return (await results.read()) as Float32Array;
}

describe("modules of multimaps and multisets refuse", () => {
  it("to change them", async () => {
    using map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    using set = await StaticMultiset.create(device(), { key: "u32", capacity: 10 });
    const access = "read_write";
    expect(() => tableModule(map, { access })).toThrow(/only read multimaps.*give them to insert/s);
    expect(() => tableModule(set, { access })).toThrow(/only read multimaps/);
  });

  it("destroyed ones, and those of the cpu engine", async () => {
    const map = await StaticMultimap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const module = tableModule(map);
    map.destroy();
    expect(() => module.entries()).toThrow(/This StaticMultimap was destroyed/);
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    using set = await StaticMultiset.create(cpu, { key: "u32", capacity: 10 });
    expect(() => tableModule(set)).toThrow(/not on a GPU/);
  });
});
