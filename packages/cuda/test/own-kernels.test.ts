/** Users' kernels on live tables: headers, tableArguments, and what the host learns of it. */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import {
  type Device,
  DynamicMap,
  openDevice,
  StaticMap,
  StaticMultimap,
  StaticSet,
  ValidationError,
} from "../../../src/index.js";
import { tableModule } from "../../../src/wgsl/index.js";
import {
  headerText,
  includePath,
  type TableArguments,
  type TableArgumentsOptions,
  tableArguments,
} from "../src/device.js";
import { launch } from "./helpers/launch.js";

const device = await openDevice({ backend: "cuda" });
afterAll(() => device.destroy());

const [INSERT, ASSIGN, FIND, ERASE] = [0, 1, 2, 3];
/** Outcome of kernels/warpmap/table.cuh. */
const [INSERTED, REUSED, SIDE_INSERTED, EXISTING, REJECTED] = [0, 1, 2, 3, 4];

type Words = Uint32Array | BigUint64Array;

/** Has a kernel do something with each key. Answers what it was told, and the values afterwards. */
async function act(
  table: TableArguments,
  kernel: string,
  action: number,
  keys: Words,
  given: Words,
  count = keys.length,
) {
  using keyArray = await device.upload(keys);
  using values = await device.upload(given);
  using answers = await device.allocate("u32", count);
  launch(kernel, count, table.stream, [
    table.bytes(),
    Uint32Array.of(action),
    ...[keyArray, values, answers].map(({ pointer }) => pointer as bigint),
    Uint32Array.of(count),
  ]);
  return { answers: [...(await answers.read())], values: [...(await values.read())] };
}

/** Of containers of the sources, which are others to TypeScript than those of the package. */
const argumentsOf = (container: unknown, options?: TableArgumentsOptions) =>
  tableArguments(container as never, options);

async function refused(work: () => unknown): Promise<ValidationError> {
  try {
    await work();
  } catch (error) {
    expect(error).toBeInstanceOf(ValidationError);
    expect((error as ValidationError).fix).toBeTruthy();
    return error as ValidationError;
  }
  expect.unreachable("it was not refused");
}

describe("headers", () => {
  const preprocess = (source: string, ...options: string[]) =>
    execFileSync(
      "g++",
      ["-E", "-x", "c++", "-D__CUDACC__", "-D__CUDACC_RTC__", "-nostdinc", ...options, "-"],
      {
        input: source,
      },
    ).toString();

  it("include nothing of the system under NVRTC", () => {
    const text = preprocess("#include <warpmap/table.cuh>\n", "-I", includePath);
    expect(text).toContain("class Table");
    expect(text).toContain("struct TableArguments");
  });

  it("are one text for NVRTC: the same code, each header once", () => {
    const text = headerText();
    expect(text.match(/#include.*/g)).toEqual(["#include <cstdint>", '#include "emulator.h"']);
    const code = (of: string) => of.replaceAll(/^#.*$/gm, "").replaceAll(/\s+/g, " ").trim();
    const included = preprocess("#include <warpmap/table.cuh>\n", "-P", "-I", includePath);
    expect(code(preprocess(text, "-P"))).toBe(code(included));
  });
});

describe("tableArguments", () => {
  it("has kernels insert, assign, find and erase, and the size follows", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1000, seed: 7 });
    const here = Uint32Array.of(1, 2, 0xffffffff);
    await map.insert(here, Uint32Array.of(10, 20, 30));
    const table = argumentsOf(map, { access: "read_write" });
    expect(table.type).toBe("warpmap::Table<1, 1>");
    const keys = Uint32Array.of(2, 3, 4, 0xffffffff, 0xfffffffe, 5);
    const inserted = await act(table, "act_1_1", INSERT, keys, keys);
    expect(inserted.answers).toEqual([EXISTING, INSERTED, INSERTED, EXISTING, SIDE_INSERTED, INSERTED]);
    await table.sync();
    expect(map.size).toBe(7);
    await act(table, "act_1_1", ASSIGN, Uint32Array.of(2, 6), Uint32Array.of(200, 600));
    const found = await map.find(Uint32Array.of(1, 2, 3, 0xfffffffe, 0xffffffff, 6, 7));
    expect([...found.values]).toEqual([10, 200, 3, 0xfffffffe, 30, 600, 0]);
    expect(map.size).toBe(8);
    const seen = await act(table, "act_1_1", FIND, Uint32Array.of(6, 7, 0xffffffff), new Uint32Array(3));
    expect(seen).toEqual({ answers: [1, 0, 1], values: [600, 0, 30] });
    const gone = await act(table, "act_1_1", ERASE, Uint32Array.of(2, 9, 0xffffffff, 3), new Uint32Array(4));
    expect(gone.answers).toEqual([1, 0, 1, 1]);
    expect([(await map.stats()).tombstones, map.engineTable.tombstones]).toEqual([2, 2]);
    expect(map.size).toBe(5);
    expect((await act(table, "act_1_1", INSERT, Uint32Array.of(2), Uint32Array.of(1))).answers).toEqual([
      REUSED,
    ]);
    expect([(await map.stats()).tombstones, map.engineTable.tombstones]).toEqual([1, 1]);
    expect(await map.erase(Uint32Array.of(2, 4))).toEqual({ erased: 2 });
    const all = await map.retrieveAll();
    expect([...all.keys].sort((a, b) => a - b)).toEqual([1, 5, 6, 0xfffffffe]);
    expect(map.size).toBe(4);
    await map.clear();
    await table.sync();
    expect(map.size).toBe(0);
  });

  it.each([
    ["u32", "u64", "act_1_2"],
    ["u64", "u64", "act_2_2"],
  ] as const)("works for %s → %s", async (key, value, kernel) => {
    using map = await StaticMap.create(device, { key, value, capacity: 3000 });
    const table = argumentsOf(map, { access: "read_write" });
    const [of, last] =
      key === "u32"
        ? [(n: number) => Uint32Array.from({ length: n }, (_, i) => ~i), 2]
        : [(n: number) => BigUint64Array.from({ length: n }, (_, i) => ~BigInt(i)), 3];
    const keys = of(3000);
    const values = BigUint64Array.from([...keys], (key) => BigInt(key) * 3n);
    const { answers } = await act(table, kernel, INSERT, keys, values);
    expect(answers.filter((outcome) => outcome === SIDE_INSERTED)).toHaveLength(last);
    expect(answers.every((outcome) => outcome < EXISTING)).toBe(true);
    await table.sync();
    expect(map.size).toBe(3000);
    expect([...(await map.find(keys as never)).values]).toEqual([...values]);
    expect((await map.insert(keys as never, values)).existing).toBe(3000);
    const found = await act(table, kernel, FIND, keys, new BigUint64Array(3000));
    expect(found.values).toEqual([...values]);
    await act(table, kernel, ERASE, keys.slice(0, 10), new BigUint64Array(10));
    expect(await map.erase(keys.slice(0, 20) as never)).toEqual({ erased: 10 });
    expect(map.size).toBe(2980);
  });

  it("works for composites, and counts those of sets", async () => {
    using map = await StaticMap.create(device, {
      key: ["u32", "f32", "u32"],
      value: ["u32", "u32", "u32"],
      capacity: 100,
    });
    const table = argumentsOf(map, { access: "read_write" });
    expect(table.type).toBe("warpmap::Table<-1, -1>");
    const column = Uint32Array.from({ length: 50 }, (_, i) => i);
    const keys = Uint32Array.from({ length: 150 }, (_, i) => (i % 3 === 1 ? 0 : Math.floor(i / 3)));
    const values = Uint32Array.from({ length: 150 }, (_, i) => i * i);
    await act(table, "act_wide", INSERT, keys, values, 50);
    const found = await map.find([column, new Float32Array(50).fill(-0), column]);
    expect(map.size).toBe(50);
    expect(found.values.map((words) => words[7])).toEqual([21 ** 2, 22 ** 2, 23 ** 2]);
    const seen = await act(table, "act_wide", FIND, keys, new Uint32Array(150), 50);
    expect(seen.values).toEqual([...values]);
    await act(table, "act_wide", ERASE, keys, values, 20);
    await table.sync();
    expect(map.size).toBe(30);

    using set = await StaticSet.create(device, { key: "u32", capacity: 100 });
    await set.insert(Uint32Array.of(1, 2, 3, 50, 0xffffffff));
    using result = await device.upload(Uint32Array.of(0));
    const ofSet = argumentsOf(set);
    expect(ofSet.type).toBe("warpmap::Table<1, 0>");
    launch("countBelow", 200, ofSet.stream, [ofSet.bytes(), Uint32Array.of(50), result.pointer as bigint]);
    expect([...(await result.read())]).toEqual([3]);
  });

  it("takes float keys in any of their bits", async () => {
    using map = await StaticMap.create(device, { key: "f32", value: "u32", capacity: 10 });
    const table = argumentsOf(map, { access: "read_write" });
    const keys = Float32Array.of(-0, 1.5, Number.NaN);
    const bits = new Uint32Array(keys.slice().buffer);
    bits[2] = 0xffc12345;
    await act(table, "act_1_1", INSERT, bits, Uint32Array.of(1, 2, 3));
    expect([...(await map.find(Float32Array.of(0, 1.5, Number.NaN))).values]).toEqual([1, 2, 3]);
    expect(map.size).toBe(3);
    expect((await act(table, "act_1_1", ERASE, bits, new Uint32Array(3))).answers).toEqual([1, 1, 1]);
  });

  it("fills all slots, and rejects what finds none", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 50 });
    const table = argumentsOf(map, { access: "read_write" });
    const keys = Uint32Array.from({ length: map.slots + 10 }, (_, i) => i);
    const { answers } = await act(table, "act_1_1", INSERT, keys, keys);
    expect(answers.filter((outcome) => outcome === REJECTED)).toHaveLength(10);
    await table.sync();
    expect(map.size).toBe(map.slots);
    await expect(map.insert(keys, keys)).rejects.toMatchObject({ code: "CAPACITY" });
    expect(map.size).toBe(map.slots);
    await map.rehash(200);
    expect(await map.insert(keys, keys)).toMatchObject({ inserted: 10 });
  });

  it("follows a map that grows, and says that bytes were made before", async () => {
    using map = await DynamicMap.create(device, { key: "u32", value: "u32" });
    const table = argumentsOf(map, { access: "read_write" });
    const before = [table.bytes(), table.slots, table.control];
    await act(table, "act_1_1", INSERT, Uint32Array.of(1, 2), Uint32Array.of(1, 2));
    const keys = Uint32Array.from({ length: 10_000 }, (_, i) => i);
    await map.insert(keys, keys);
    expect(map.size).toBe(10_000);
    expect((await refused(() => table.sync())).message).toMatch(
      /^DynamicMap.* has another table than bytes\(\)/,
    );
    expect([table.bytes(), table.slots, table.control]).not.toEqual(before);
    await table.sync();
    await act(table, "act_1_1", ERASE, keys.slice(0, 100), keys.slice(0, 100));
    await table.sync();
    expect(map.size).toBe(9900);
  });

  it("is not asked for by calls where kernels only read", async () => {
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 50 });
    const table = argumentsOf(map);
    await act(table, "act_1_1", INSERT, Uint32Array.of(1), Uint32Array.of(2));
    await table.sync();
    expect(map.size).toBe(0);
  });

  it("refuses containers that kernels cannot use", async () => {
    const wrong = async (what: unknown, says: RegExp) =>
      expect((await refused(() => argumentsOf(what))).message).toMatch(says);
    const sizes = { key: "u32", value: "u32", capacity: 50 } as const;
    const cpu: Device = await openDevice({ backend: "cpu" });
    await wrong(await StaticMap.create(cpu, sizes), /^StaticMap<u32, u32>.* is not on a cuda device/);
    cpu.destroy();
    using multi = await StaticMultimap.create(device, sizes);
    await wrong(multi, /is not a map or a set: the host keeps multimaps/);
    using strings = await StaticMap.create(device, { ...sizes, key: "utf8" });
    await wrong(strings, /this table has strings/);
    const hash = { name: "low", wgsl: "fn low(key: u32) -> u32 { return key; }", js: (key: number) => key };
    using own = await StaticMap.create(device, { ...sizes, hash });
    await wrong(own, /The hash function of StaticMap.* is your own/);
    await wrong(undefined, /The first argument is undefined/);
    await wrong({}, /not a map or a set/);
    const gone = await StaticMap.create(device, sizes);
    const table = argumentsOf(gone, { access: "read_write" });
    expect((await refused(() => argumentsOf(gone, { acces: "read" } as never))).message).toContain("acces");
    await refused(() => argumentsOf(gone, { access: "write" } as never));
    expect((await refused(() => tableModule(gone))).message).toContain("WGSL runs nowhere else");
    gone.destroy();
    await wrong(gone, /This StaticMap was destroyed/);
    await refused(() => table.bytes());
    await refused(() => table.slots);
    await refused(() => table.sync());
  });
});

it("the example counts as JavaScript does", { timeout: 60_000 }, () => {
  const program = fileURLToPath(new URL("../examples/own-kernels.mjs", import.meta.url));
  const image = fileURLToPath(new URL("../examples/own-kernels.cu", import.meta.url));
  const said = execFileSync(process.execPath, [program, image]).toString();
  expect(said).toContain(
    "5000000 views are of 99999 pages; 0 found no room\n6159 pages have more than 100 views\n",
  );
  expect(said).toMatch(/66878 pages have more than 30 views\nas counted here\n$/);
});
