/** warpmap/wgsl: a user's kernel finds what the host finds. Runs in Node and, from test/browser, in a page. */
import { describe, expect, it } from "vitest";
import { asBits, type Scalar, type ScalarArrays } from "../../src/engine/scalars.js";
import {
  type DeviceArray,
  DynamicMap,
  type HashName,
  openDevice,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { type TableModule, tableModule } from "../../src/wgsl/index.js";
import { expectSame, storedBits } from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";
import {
  absentKeys,
  counting,
  edgePatterns,
  fromBits,
  hashes,
  keysWithHome,
  oddFloats,
  sentinelPatterns,
  types,
  uniqueKeys,
} from "../conformance/helpers/keys.js";
import {
  arrayEntries,
  bindGroup,
  computePipeline,
  dispatch,
  gpuOf,
} from "../engine/webgpu/helpers/compute.js";

const device = useDevice();

/** A kernel that looks keys up with a module's functions; binds the table when made and when told to. */
class Finder {
  #table: GPUBindGroup;

  private constructor(
    private readonly module: TableModule,
    private readonly pipeline: GPUComputePipeline,
  ) {
    this.#table = this.#bind();
  }

  static async create(module: TableModule, name: string, key: Scalar, value: Scalar): Promise<Finder> {
    const code = `
      @group(0) @binding(0) var<storage, read> keys: array<${key}>;
      @group(0) @binding(1) var<storage, read_write> values: array<${value}>;
      @group(0) @binding(2) var<storage, read_write> found: array<u32>;
      @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
        if (id.x >= arrayLength(&keys)) { return; }
        let result = ${name}_find(keys[id.x]);
        values[id.x] = result.value;
        found[id.x] = u32(result.found) + 2u * u32(${name}_contains(keys[id.x]));
      }`;
    return new Finder(module, await computePipeline(gpuOf(device()), code + module.code));
  }

  #bind(): GPUBindGroup {
    return bindGroup(gpuOf(device()), this.pipeline, this.module.group, this.module.entries());
  }

  bindAgain(): void {
    this.#table = this.#bind();
  }

  /** Bit patterns of the values, and 3 where find and contains say that the key is there, 0 where both do not. */
  async find(keys: ScalarArrays[Scalar]): Promise<{ values: Uint32Array; found: Uint32Array }> {
    using input = (await device().upload(keys)) as DeviceArray<Scalar>;
    using values = await device().allocate("u32", keys.length);
    using found = await device().allocate("u32", keys.length);
    const gpu = gpuOf(device());
    const mine = bindGroup(gpu, this.pipeline, 0, arrayEntries([input, values, found] as DeviceArray[]));
    await dispatch(gpu, this.pipeline, [mine, this.#table], Math.ceil(keys.length / 64));
    return { values: await values.read(), found: await found.read() };
  }

  /** The kernel finds these pairs (stored bit patterns) and no others among `keys`. */
  async expectAmong(
    keys: ScalarArrays[Scalar],
    pairs: ReadonlyMap<number, number>,
    type: Scalar,
  ): Promise<void> {
    const { values, found } = await this.find(keys);
    const expected = Array.from(asBits(keys), (bits) => pairs.get(storedBits(type, bits)));
    expectSame(
      found,
      expected.map((value) => (value === undefined ? 0 : 3)),
    );
    expectSame(
      values,
      expected.map((value) => value ?? 0),
    );
  }
}

const mapFinder = (map: StaticMap<Scalar, Scalar>) =>
  Finder.create(tableModule(map), "map", map.keyType, map.valueType);

/** What a map should hold, by stored bit patterns. */
function pairsOf(type: Scalar, keys: Uint32Array, values: Uint32Array): Map<number, number> {
  return new Map(Array.from(keys, (bits, i) => [storedBits(type, bits), values[i]]));
}

describe("the module of a map", () => {
  for (const key of types) {
    for (const value of types) {
      it(`finds 10,000 ${key} keys with ${value} values among as many others`, async () => {
        using map = await StaticMap.create(device(), { key, value, capacity: 11_000 });
        const odd = key === "f32" ? oddFloats : edgePatterns;
        const present = Uint32Array.from(new Set([...uniqueKeys(10_000), ...odd]));
        const values = absentKeys(present.length).map((bits) =>
          value === "f32" ? storedBits("f32", bits) : bits,
        );
        // what f32 keys have in common with others is decided before: the first of equal keys need not win
        const pairs = pairsOf(key, present, values);
        const stored = Uint32Array.from(pairs.keys());
        await map.insert(fromBits(key, stored), fromBits(value, Uint32Array.from(pairs.values())));
        const finder = await mapFinder(map as never);
        await finder.expectAmong(fromBits(key, present), pairs, key);
        const absent = absentKeys(10_000).filter((bits) => !pairs.has(storedBits(key, bits)));
        await finder.expectAmong(fromBits(key, absent), pairs, key);
      });
    }
  }

  it("takes the keys that sentinels look like for what they are: keys, and absent ones", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const finder = await mapFinder(map as never);
    const pairs = new Map<number, number>();
    for (const key of sentinelPatterns) {
      await finder.expectAmong(edgePatterns, pairs, "u32");
      pairs.set(key, ~key >>> 0);
      await map.insert(Uint32Array.of(key), Uint32Array.of(~key));
    }
    await finder.expectAmong(edgePatterns, pairs, "u32");
    await map.erase(sentinelPatterns);
    await finder.expectAmong(edgePatterns, new Map(), "u32");
  });

  for (const hash of hashes) {
    for (const slots of [1, 2, 3, 1021]) {
      it(`probes a full table of ${slots} slots (${hash})`, async () => {
        const sizing = { capacity: slots, maxLoadFactor: 1, hash };
        using map = await StaticMap.create(device(), { key: "u32", value: "u32", ...sizing });
        const keys = uniqueKeys(slots);
        await map.insert(keys, counting(slots));
        const finder = await mapFinder(map as never);
        await finder.expectAmong(
          Uint32Array.of(...keys, ...absentKeys(300), ...edgePatterns),
          pairsOf("u32", keys, counting(slots)),
          "u32",
        );
      });
    }
  }

  it("hashes with the table's seed, also with the one that rehash gives it, and by the user's own function", async () => {
    const own = {
      name: "own",
      js: (word: number) => ~word,
      wgsl: "fn own(word: u32) -> u32 { return ~word; }",
    };
    const sizing = { key: "u32", value: "u32", capacity: 500 } as const;
    const keys = uniqueKeys(400);
    const pairs = pairsOf("u32", keys, counting(400));
    const asked = Uint32Array.of(...keys, ...absentKeys(100));
    for (const hash of ["xxhash64", own] as const) {
      using map = await StaticMap.create(device(), { ...sizing, hash, seed: 3 });
      await map.insert(keys, counting(400));
      const module = tableModule(map);
      const finder = await Finder.create(module, "map", "u32", "u32");
      await finder.expectAmong(asked, pairs, "u32");
      await map.rehash({ seed: "random" });
      expect(tableModule(map).code).toBe(module.code);
      finder.bindAgain();
      await finder.expectAmong(asked, pairs, "u32");
      await map.clear();
      await finder.expectAmong(asked, new Map(), "u32");
      await map.rehash({ seed: 0 });
      expect(() => module.entries()).toThrow("Make the module again");
    }
  });

  it("sees what later calls change, through the same bind group", async () => {
    const sizing = { capacity: 4000, maxLoadFactor: 1, hash: "murmur3" as HashName };
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", ...sizing });
    const finder = await mapFinder(map as never);
    const chain = keysWithHome(3900, 4000, 1000);
    const pairs = new Map<number, number>();
    // the chain grows, past the table's end, and so does the longest probe
    for (const count of [0, 1, 10, 500, 1000]) {
      const keys = chain.subarray(0, count);
      await map.insertOrAssign(keys, counting(count, 7 * count));
      keys.forEach((key, i) => {
        pairs.set(key, 7 * count + i);
      });
      await finder.expectAmong(chain, pairs, "u32");
    }
    const gone = chain.subarray(200, 700);
    await map.erase(gone);
    for (const key of gone) pairs.delete(key);
    await finder.expectAmong(chain, pairs, "u32");
    await map.clear();
    await finder.expectAmong(chain, new Map(), "u32");
  });

  it("works after rehash with the same code and new entries, and refuses the old ones", async () => {
    using map = await StaticMap.create(device(), { key: "i32", value: "f32", capacity: 500 });
    const keys = uniqueKeys(400);
    const pairs = pairsOf("i32", keys, asBits(Float32Array.from(counting(400))));
    await map.insert(fromBits("i32", keys), Float32Array.from(counting(400)));
    const module = tableModule(map);
    const finder = await Finder.create(module, "map", "i32", "f32");
    const { code } = module;
    for (const capacity of [5000, 400]) {
      await map.rehash(capacity);
      await expect(finder.find(fromBits("i32", keys))).rejects.toThrow(/destroyed/);
      expect(tableModule(map).code).toBe(code);
      finder.bindAgain();
      await finder.expectAmong(fromBits("i32", Uint32Array.of(...keys, ...absentKeys(100))), pairs, "i32");
    }
  });

  it("works for a map that grows, with new entries after each growth", async () => {
    using map = await DynamicMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const finder = await Finder.create(tableModule(map), "map", "u32", "u32");
    for (const size of [10, 300, 5000]) {
      await map.insert(uniqueKeys(size), counting(size));
      finder.bindAgain();
      const asked = Uint32Array.of(...uniqueKeys(size), ...absentKeys(100));
      await finder.expectAmong(asked, pairsOf("u32", uniqueKeys(size), counting(size)), "u32");
    }
  });

  it("lends two tables to one kernel, in one bind group with the user's own bindings", async () => {
    using ages = await StaticMap.create(device(), { key: "i32", value: "u32", capacity: 100 });
    using flagged = await StaticSet.create(device(), { key: "u32", capacity: 100, hash: "xxhash32" });
    await ages.insert(Int32Array.of(-1, -2, -3), Uint32Array.of(10, 20, 30));
    await flagged.insert(Uint32Array.of(20, 30, 40));
    const modules = [
      tableModule(ages, { prefix: "ages", group: 0, binding: 5 }),
      tableModule(flagged, { prefix: "flagged2_", group: 0, binding: 8 }),
    ];
    const code = `
      @group(0) @binding(0) var<storage, read_write> result: array<u32>;
      @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
        let age: ages_Result = ages_find(-i32(id.x));
        result[id.x] = age.value + 1000u * u32(flagged2__contains(age.value)) + 9u * u32(!age.found);
      }`;
    const gpu = gpuOf(device());
    const module = gpu.createShaderModule({ code: [code, ...modules.map((m) => m.code)].join("\n") });
    const layout = gpu.createBindGroupLayout({
      entries: [
        { binding: 0, visibility: 4, buffer: { type: "storage" } },
        ...modules.flatMap((m) => m.layoutEntries),
      ],
    });
    const pipeline = await gpu.createComputePipelineAsync({
      layout: gpu.createPipelineLayout({ bindGroupLayouts: [layout] }),
      compute: { module },
    });
    using result = await device().allocate("u32", 5);
    const entries = [...arrayEntries([result]), ...modules.flatMap((m) => m.entries())];
    await dispatch(gpu, pipeline, [gpu.createBindGroup({ layout, entries })], 5);
    expect([...(await result.read())]).toEqual([9, 10, 1020, 1030, 9]);
  });

  it("declares nothing without its prefix, so that users may use every name", async () => {
    using map = await StaticMap.create(device(), { key: "f32", value: "i32", capacity: 100 });
    await map.insert(Float32Array.of(1.5), Int32Array.of(-5));
    const { code, entries, group } = tableModule(map, { prefix: "m" });
    const names = new Set(code.match(/\bm_\w+/g)?.map((name) => name.slice(2)));
    expect(names.size).toBeGreaterThan(20);
    for (const name of ["find", "contains", "Result", "table", "EMPTY", "murmur3", "KeyType", "ValueType"]) {
      expect(names).toContain(name);
    }
    const mine = Array.from(names, (name) => `const ${name} = 1;`).join("\n");
    const pipeline = await computePipeline(
      gpuOf(device()),
      `${mine}
      ${code}
      @group(0) @binding(0) var<storage, read_write> result: array<i32>;
      @compute @workgroup_size(1) fn main() { result[0] = m_find(1.5).value; }`,
    );
    using result = await device().allocate("i32", 1);
    const groups = [arrayEntries([result]), entries()];
    expect(group).toBe(1);
    await dispatch(
      gpuOf(device()),
      pipeline,
      groups.map((entries, i) => bindGroup(gpuOf(device()), pipeline, i, entries)),
      1,
    );
    expect([...(await result.read())]).toEqual([-5]);
  });

  it("serves fragment shaders", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "f32", capacity: 100 });
    const FRAGMENT = 2;
    const { code, layoutEntries } = tableModule(map, { group: 0, visibility: FRAGMENT });
    const gpu = gpuOf(device());
    const module = gpu.createShaderModule({
      code: `${code}
        @vertex fn corner(@builtin(vertex_index) i: u32) -> @builtin(position) vec4f { return vec4f(f32(i)); }
        @fragment fn shade(@builtin(position) at: vec4f) -> @location(0) vec4f {
          return vec4f(map_find(u32(at.x)).value);
        }`,
    });
    const layout = gpu.createPipelineLayout({
      bindGroupLayouts: [gpu.createBindGroupLayout({ entries: layoutEntries })],
    });
    await gpu.createRenderPipelineAsync({
      layout,
      vertex: { module },
      fragment: { module, targets: [{ format: "rgba8unorm" }] },
    });
  });
});

describe("the module of a set", () => {
  for (const key of types) {
    it(`finds the ${key} keys of a set`, async () => {
      using set = await StaticSet.create(device(), { key, capacity: 6000, maxLoadFactor: 0.9 });
      const odd = key === "f32" ? oddFloats : edgePatterns;
      const present = Uint32Array.from([...uniqueKeys(5000), ...odd]);
      await set.insert(fromBits(key, present));
      const stored = present.map((bits) => storedBits(key, bits));
      const finder = await Finder.create(tableModule(set), "set", key, key);
      const keys = Uint32Array.of(...present, ...absentKeys(5000));
      await finder.expectAmong(fromBits(key, keys), pairsOf(key, stored, stored), key);
    });
  }
});

describe("what modules refuse", () => {
  it("tables of the cpu engine", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    using map = await StaticMap.create(cpu, { key: "u32", value: "u32", capacity: 10 });
    using set = await StaticSet.create(cpu, { key: "u32", capacity: 10 });
    for (const module of [() => tableModule(map), () => tableModule(set)]) {
      expect(module).toThrow(ValidationError);
      expect(module).toThrow(/not on a GPU.*backend: "webgpu"/);
    }
  });

  it("destroyed tables, also when the module is older", async () => {
    const map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    const module = tableModule(map);
    map.destroy();
    expect(() => module.entries()).toThrow(ValidationError);
    expect(() => tableModule(map)).toThrow(/This StaticMap was destroyed\. Create a new StaticMap/);
  });

  it("names that are not WGSL names, and numbers that are not slots", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    for (const prefix of ["", "1st", "a-b", "_a", "a b", "ä", 7 as never]) {
      expect(() => tableModule(map, { prefix })).toThrow(ValidationError);
    }
    for (const number of [-1, 0.5, Number.NaN, "0" as never]) {
      expect(() => tableModule(map, { group: number })).toThrow(ValidationError);
      expect(() => tableModule(map, { binding: number })).toThrow(ValidationError);
      expect(() => tableModule(map, { visibility: number })).toThrow(ValidationError);
      expect(() => tableModule(map, { access: number as never })).toThrow(/There is no access/);
    }
  });

  it("options that are unknown, and what is no container", async () => {
    using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: 10 });
    expect(() => tableModule(map, { bindings: 2 } as never)).toThrow(/no option "bindings".* mean "binding"/);
    expect(() => tableModule(map as never, null as never)).toThrow(/The options are null/);
    for (const wrong of [undefined, null, {}, device(), "map"]) {
      expect(() => tableModule(wrong as never)).toThrow(/The first argument is .*, not a map or a set/);
    }
  });
});
