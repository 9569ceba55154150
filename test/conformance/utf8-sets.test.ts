/** Sets of strings, and strings as bytes: toBytes and fromBytes, columns as inputs, results as inputs. */
import * as arrow from "@uwdata/flechette";
import { describe, expect, it } from "vitest";
import { Utf8Column } from "../../src/engine/utf8-column.js";
import {
  DynamicMap,
  DynamicSet,
  FormatError,
  openDevice,
  StaticMap,
  StaticSet,
  ValidationError,
} from "../../src/index.js";
import { rejection } from "./helpers/checks.js";
import { scaled, useDevice } from "./helpers/device.js";

const device = useDevice();
const many = (count: number, prefix = "key ") => Array.from({ length: count }, (_, i) => `${prefix}${i}`);
const edges = ["", "\0", "\0\0", "a", "é", "€", "😀", "\ufeff", "x".repeat(1000)];

describe("a set of strings", () => {
  it("tells which elements are new, and answers keys", async () => {
    using set = await StaticSet.create(device(), { key: "utf8", capacity: 1000 });
    const { isNew, inserted } = await set.insertAndFind([...many(300), ...edges]);
    expect(inserted).toBe(300 + edges.length);
    expect(isNew.every((flag) => flag === 1)).toBe(true);
    expect([...(await set.insertAndFind(["new", "", "key 7"])).isNew]).toEqual([1, 0, 0]);
    const { keys, found } = await set.find(["", "key 1", "nothing", "😀"], { missing: "é?" });
    expect(keys).toBeInstanceOf(Utf8Column);
    expect(keys.toArray()).toEqual(["", "key 1", "é?", "😀"]);
    expect([...found]).toEqual([1, 1, 0, 1]);
    expect(
      (await set.find(["key 1", "nothing", "key 2"], { mask: Uint8Array.of(1, 1, 0) })).keys.toArray(),
    ).toEqual(["key 1", "", ""]);
    expect(await set.erase(many(299))).toEqual({ erased: 299 });
    expect((await set.retrieveAll()).keys.toArray().toSorted()).toEqual(
      [...edges, "key 299", "new"].toSorted(),
    );
    const visited: string[] = [];
    await set.forEach((key) => {
      visited.push(key);
    });
    expect(visited.toSorted()).toEqual([...edges, "key 299", "new"].toSorted());
  });

  it("takes every form of strings, and its own results", async () => {
    using set = await DynamicSet.create(device(), { key: "utf8" });
    const column = arrow.columnFromArray([...many(100), ...many(50)], arrow.dictionary(arrow.utf8()));
    expect(await set.insert(column)).toEqual({ inserted: 100, existing: 50 });
    const bytes = new TextEncoder().encode("..abcabc..");
    expect(await set.insert({ offsets: Uint32Array.of(2, 5, 8, 8), bytes })).toEqual({
      inserted: 2,
      existing: 1,
    });
    const { keys } = await set.retrieveAll();
    expect(await set.insert(keys)).toEqual({ inserted: 0, existing: 102 });
    expect([...(await set.contains(new Utf8Column(Uint32Array.of(0, 0, 2), bytes)))]).toEqual([1, 0]);
    expect(await set.erase(keys)).toEqual({ erased: 102 });
  });

  it("compares bytes that are not UTF-8 as they are", async () => {
    using set = await StaticSet.create(device(), { key: "utf8", capacity: 10 });
    const offsets = Uint32Array.of(0, 1, 2, 4);
    await set.insert({ offsets, bytes: Uint8Array.of(0xff, 0xfe, 0xc3, 0x28) });
    expect(set.size).toBe(3);
    // what the bytes read as is another string
    expect([...(await set.contains(["\ufffd", "\ufffd("]))]).toEqual([0, 0]);
    expect([...(await set.contains({ offsets: Uint32Array.of(0, 1), bytes: Uint8Array.of(0xfe) }))]).toEqual([
      1,
    ]);
  });

  it("refuses what it cannot answer", async () => {
    using set = await StaticSet.create(device(), { key: "utf8", capacity: 10 });
    const calls = [
      () => set.find(["a"], { missing: 0 as never }),
      () => set.find(["a"], { missing: "\ud800" }),
      () => set.find(["a"], { output: "device" }),
      () => set.retrieveAll({ output: "device" }),
      () => set.insert("a string" as never),
      () => set.insert({ offsets: Uint32Array.of(0, 9), bytes: new Uint8Array(3) }),
    ];
    for (const call of calls) await rejection(call(), ValidationError);
  });
});

describe("as bytes", () => {
  const values = (count: number) => Float32Array.from({ length: count }, (_, i) => i / 4);

  it("maps and sets of strings go from one container and engine to another", async () => {
    using cpu = await openDevice({ backend: "cpu", threads: 1 });
    using map = await DynamicMap.create(device(), { key: "utf8", value: "f32", hash: "xxhash32" });
    const keys = [...many(200), ...edges];
    await map.insert(keys, values(keys.length));
    await map.erase(many(50));
    const bytes = await map.toBytes();
    for (const on of [device(), cpu]) {
      using read = await StaticMap.fromBytes<"utf8", "f32">(on, bytes);
      expect([read.size, read.keyType, read.hash]).toEqual([map.size, "utf8", "xxhash32"]);
      const { values: found } = await read.find(keys, { missing: -1 });
      expect(found).toEqual(values(keys.length).map((value, i) => (i < 50 ? -1 : value)));
    }
    using empty = await StaticSet.create(device(), { key: "utf8", capacity: 3 });
    using read = await DynamicSet.fromBytes<"utf8">(device(), await empty.toBytes());
    expect([read.size, read.capacity]).toEqual([0, 3]);
    await read.insert(edges);
    expect((await StaticSet.fromBytes(cpu, await read.toBytes())).size).toBe(edges.length);
  });

  it("damaged ones are refused", async () => {
    using set = await StaticSet.create(device(), { key: "utf8", capacity: 30 });
    await set.insert(edges);
    const bytes = await set.toBytes();
    for (const at of [20, 57, 70, bytes.length - 1]) {
      const damaged = bytes.slice();
      damaged[at] ^= 4;
      await rejection(StaticSet.fromBytes(device(), damaged), FormatError);
    }
    await rejection(StaticSet.fromBytes(device(), bytes.subarray(0, bytes.length - 8)), FormatError);
    await rejection(StaticMap.fromBytes(device(), bytes), FormatError);
  });
});

it("many equal strings, and many with a long common prefix, take time in proportion to their bytes", async () => {
  const count = scaled(100_000, 3000);
  using map = await DynamicMap.create(device(), { key: "utf8", value: "u32" });
  const ones = new Uint32Array(count).fill(1);
  await map.insertOrApply(new Array(count).fill("one and the same"), ones, "add");
  const prefix = "the same beginning, 50 bytes long, of every string";
  await map.insertOrApply(many(count, prefix), ones, "add");
  expect(map.size).toBe(count + 1);
  expect([...(await map.find(["one and the same", `${prefix}7`, prefix])).values]).toEqual([count, 1, 0]);
});
