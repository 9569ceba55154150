import { availableParallelism } from "node:os";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type CpuEngine, type CpuEngineOptions, openCpuEngine } from "../../../src/engine/cpu/cpu-engine.js";
import { EMPTY } from "../../../src/engine/layout.js";
import { asBits } from "../../../src/engine/scalars.js";
import { DeviceLostError, LimitError, ValidationError } from "../../../src/errors.js";
import { gather } from "../../../src/host/gather.js";
import { checkTable } from "../../helpers/check-table.js";
import { type AnyTable, expectSame } from "./drive.js";

const opened: CpuEngine[] = [];
afterEach(() => {
  for (const engine of opened.splice(0)) engine.destroy();
});

async function open(options: CpuEngineOptions = {}): Promise<CpuEngine> {
  const engine = (await openCpuEngine(options)) as CpuEngine;
  opened.push(engine);
  return engine;
}

async function newTable(engine: CpuEngine, slots = 1000): Promise<AnyTable> {
  return (await engine.createTable({ key: "u32", value: "u32", slots, hash: "murmur3" })) as AnyTable;
}

const counting = (count: number) => Uint32Array.from({ length: count }, (_, i) => i);

/** Both paths, cut into many small chunks. */
const paths = [
  { name: "one thread", options: { threads: 1, tuning: { chunk: 64 } } },
  {
    name: "two threads",
    options: {
      threads: 2,
      tuning: {
        chunk: 64,
        lookUpFrom: 1,
        changeFrom: 1,
        share: 16,
        slice: 16,
        grain: 16,
        ranges: 8,
        pause: 0,
      },
    },
  },
];

describe("info", () => {
  it("says how many threads there are", async () => {
    expect((await open({ threads: 1 })).info).toMatchObject({
      backend: "cpu",
      name: "CPU, 1 thread",
      threads: 1,
      software: false,
    });
    expect((await open({ threads: 3 })).info).toMatchObject({ name: "CPU, 3 threads", threads: 3 });
    expect((await open({ threads: 2 ** 20 })).info.threads).toBe(Math.max(16, 4 * availableParallelism()));
    expect((await open()).info.threads).toBeGreaterThanOrEqual(1);
  });
});

describe.each(paths)("a call in chunks, $name", ({ options }) => {
  it("tells its progress", async () => {
    const table = await newTable(await open(options));
    const seen: number[][] = [];
    await table.insert(counting(200), counting(200), "keep", {
      onProgress: (done, total) => seen.push([done, total]),
    });
    expect(seen).toEqual([
      [64, 200],
      [128, 200],
      [192, 200],
      [200, 200],
    ]);
    const empty: number[][] = [];
    await table.contains(new Uint32Array(0), "host", {
      onProgress: (done, total) => empty.push([done, total]),
    });
    expect(empty).toEqual([[0, 0]]);
  });

  it("stops between chunks with the signal's reason and an exact table", async () => {
    const table = await newTable(await open(options));
    for (const call of ["insert", "erase"] as const) {
      const controller = new AbortController();
      const reason = new Error("enough");
      const stop = {
        signal: controller.signal,
        onProgress: (done: number) => void (done >= 128 && controller.abort(reason)),
      };
      const work =
        call === "insert"
          ? table.insert(counting(500), counting(500), "keep", stop)
          : table.erase(counting(500), stop);
      await expect(work).rejects.toBe(reason);
      expect(table.live).toBe(call === "insert" ? 128 : 0);
      checkTable(table);
    }
    const aborted = AbortSignal.abort();
    await expect(table.insert(counting(5), counting(5), "keep", { signal: aborted })).rejects.toBe(
      aborted.reason,
    );
    await expect(table.find(counting(5), 0, "host", { signal: aborted })).rejects.toBe(aborted.reason);
    expect(table.live).toBe(0);
  });

  it("goes no further when the engine is destroyed", async () => {
    const engine = await open(options);
    const table = await newTable(engine);
    const work = table.insert(counting(500), counting(500), "keep", { onProgress: () => engine.destroy() });
    await expect(work).rejects.toThrow(DeviceLostError);
  });

  it("goes no further when its table is destroyed, and harms no other", async () => {
    const engine = await open(options);
    const table = await newTable(engine, 2 ** 18);
    const others: Promise<AnyTable>[] = [];
    const work = table.insert(counting(500), counting(500), "keep", {
      onProgress: () => {
        table.destroy();
        others.push(newTable(engine, 2 ** 18));
      },
    });
    await expect(work).rejects.toThrow(ValidationError);
    for (const other of await Promise.all(others)) expect(checkTable(other).size).toBe(0);
  });
});

describe("timers and signals", () => {
  it("run while a long batch is under way", async () => {
    const table = await newTable(await open({ threads: 1, tuning: { chunk: 2 ** 14 } }), 2 ** 20);
    const keys = counting(2 ** 22);
    const signal = AbortSignal.timeout(20);
    const error = await table.find(keys, 0, "host", { signal }).catch((e: unknown) => e);
    expect(signal.aborted).toBe(true);
    expect(error).toBe(signal.reason);
  });
});

describe("inputs and outputs", () => {
  it("are typed arrays at any offset, in shared memory or not, and device arrays", async () => {
    for (const { options } of paths) {
      const engine = await open(options);
      const keys = new Uint32Array(new ArrayBuffer(4 * 203), 12, 200).map((_, i) => i * 3);
      const shared = new Uint32Array(new SharedArrayBuffer(4 * 203), 8, 200);
      shared.set(keys);
      const uploaded = await engine.upload("u32", keys);
      const mask = await engine.upload("u8", new Uint8Array(200).fill(1, 50));
      for (const input of [keys, shared, uploaded]) {
        const table = await newTable(engine);
        expect(await table.insert(input, input, "keep", { where: mask })).toMatchObject({ inserted: 150 });
        const { values, found } = await table.find(input, 7, "device", {});
        if (!("read" in values && "read" in found)) throw new Error("not on the device");
        expectSame((await found.read()) as Uint8Array, new Uint8Array(200).fill(1, 50));
        expectSame(
          asBits(await values.read()),
          keys.map((key, i) => (i < 50 ? 7 : key)),
        );
        expect(await table.erase(input, { where: mask })).toBe(150);
      }
    }
  });

  it("results on the host are in private memory of just their size", async () => {
    for (const { options } of paths) {
      const table = await newTable(await open(options));
      await table.insert(counting(100), counting(100), "keep", {});
      const { values, found } = await table.find(counting(100), 0, "host", {});
      const all = await table.retrieveAll("host", {});
      const inserted = await table.insertAndFind(counting(100), counting(100), "host", {});
      for (const array of [values, found, all.keys, all.values, inserted.values, inserted.insertedFlags]) {
        if (!ArrayBuffer.isView(array)) throw new Error("not on the host");
        expect(array.buffer).toBeInstanceOf(ArrayBuffer);
        expect(array.buffer.byteLength).toBe(array.byteLength);
      }
    }
  });

  it("of another engine or destroyed are refused", async () => {
    const [engine, other] = [await open({ threads: 1 }), await open({ threads: 1 })];
    const table = await newTable(engine);
    const foreign = await other.upload("u32", counting(3));
    const gone = await engine.upload("u32", counting(3));
    gone.destroy();
    for (const keys of [foreign, gone])
      await expect(table.contains(keys, "host", {})).rejects.toThrow(ValidationError);
    await expect(
      table.contains(counting(3), "host", { where: await other.upload("u8", new Uint8Array(3)) }),
    ).rejects.toThrow(ValidationError);
  });

  it("NaN payloads of values survive every way through", async () => {
    const engine = await open({ threads: 1 });
    const table = await engine.createTable<"f32", "f32">({
      key: "f32",
      value: "f32",
      slots: 10,
      hash: "murmur3",
    });
    const bits = Uint32Array.of(0x7f800001, 0xffc12345, 0x7fffffff, 0x80000000);
    const values = new Float32Array(bits.buffer);
    await table.insert(Float32Array.of(1, 2, 3, 4), values, "keep", {});
    const uploaded = await engine.upload("f32", values);
    await table.insert(Float32Array.of(5, 6, 7, 8), uploaded, "assign", {});
    const { values: found } = await table.find(Float32Array.of(5, 6, 7, 8), 0, "host", {});
    expectSame(asBits(found as Float32Array), bits);
    const all = await table.retrieveAll("device", {});
    expect(asBits(await (all.values as typeof uploaded).read()).filter((b) => bits.includes(b)).length).toBe(
      8,
    );
  });
});

describe("memory", () => {
  it("that is not there is a LimitError with the numbers, and the engine goes on", async () => {
    const engine = await open({ threads: 1 });
    const limit = vi.spyOn(process, "constrainedMemory").mockReturnValue(2 ** 29);
    const error = await newTable(engine, 2 ** 27).catch((e: unknown) => e);
    limit.mockRestore();
    expect(error).toMatchObject({ code: "LIMIT", limit: "memory", need: 8 * (2 ** 27 + 2) });
    expect((error as LimitError).have).toBeLessThan(2 ** 29);
    await expect(engine.allocate("u32", 2 ** 40)).rejects.toThrow(LimitError);
    await expect(newTable(engine, 2 ** 31)).rejects.toMatchObject({
      code: "LIMIT",
      limit: "slots",
      need: 2 ** 31,
      have: 2 ** 31 - 3,
    });
    expect((await newTable(engine)).live).toBe(0);
  });

  it("of a destroyed table is used again, and holds nothing of it", async () => {
    const engine = await open({ threads: 2 });
    const first = await newTable(engine, 2 ** 20);
    await first.insert(counting(1000), counting(1000), "keep", {});
    const { buffer } = first.inspect().memory.slots;
    first.destroy();
    const second = await newTable(engine, 2 ** 20 - 1000);
    expect(second.inspect().memory.slots.buffer).toBe(buffer);
    expect(checkTable(second).size).toBe(0);
    second.destroy();
    const zeros = await (await engine.allocate("u32", 2 ** 20)).read();
    expect(zeros.every((x) => x === 0)).toBe(true);
  });
});

describe("destroy", () => {
  it("makes every later call reject with DeviceLostError, and resolves lost", async () => {
    const engine = await open();
    const table = await newTable(engine);
    const array = await engine.upload("u32", counting(3));
    engine.destroy();
    engine.destroy();
    const noRows = { rows: 0, columns: [] };
    const calls = [
      () => table.insert(counting(3), counting(3), "keep", {}),
      () => table.insertAndFind(counting(3), counting(3), "host", {}),
      () => table.find(counting(3), 0, "host", {}),
      () => table.contains(counting(3), "host", {}),
      () => table.erase(counting(3), {}),
      () => table.retrieveAll("host", {}),
      () => table.clear(),
      () => table.stats(),
      () => array.read(),
      () => engine.upload("u32", counting(3)),
      () => engine.allocate("u32", 3),
      () => newTable(engine),
      async () => (await engine.rows()).match(noRows, noRows, "inner", { nullsEqual: false }),
      async () => (await engine.rows()).group(noRows, { nullsEqual: false }),
      () => gather(engine.host, [], async () => {}),
    ];
    for (const call of calls)
      await expect(call()).rejects.toMatchObject({ code: "DEVICE_LOST", reason: "destroyed" });
    expect(await engine.lost).toMatchObject({ reason: "destroyed" });
    table.destroy();
    array.destroy();
  });
});

describe("erased slots", () => {
  it("are taken again: the same keys fill them all", async () => {
    for (const { options } of paths) {
      const table = await newTable(await open(options), 1200);
      await table.insert(counting(1000), counting(1000), "keep", {});
      expect(await table.erase(counting(1000), {})).toBe(1000);
      expect(await table.stats()).toMatchObject({ live: 0, tombstones: 1000 });
      await table.insert(counting(1000), counting(1000), "keep", {});
      expect(await table.stats()).toMatchObject({ live: 1000, tombstones: 0 });
    }
  });
});

describe("stats", () => {
  it("count entries by probe length", async () => {
    const engine = await open({ threads: 1 });
    const table = (await engine.createTable({
      key: "u32",
      value: null,
      slots: 300,
      hash: "identity",
    })) as AnyTable;
    // all at home in slot 0: entry i lies i slots on, and the histogram ends at 256
    await table.insert(counting(280), null, "keep", {});
    await table.insert(Uint32Array.of(0xffffffff), null, "keep", {});
    await table.erase(Uint32Array.of(1), {});
    const { probeLengths, ...rest } = await table.stats();
    const total = (280 * 281) / 2 - 2 + 1;
    expect(rest).toEqual({ live: 280, tombstones: 1, meanProbeLength: total / 280, maxProbeLength: 280 });
    expect(Array.from(probeLengths)).toEqual([2, 0, ...new Array(253).fill(1), 25]);
    await table.clear();
    expect(await table.stats()).toMatchObject({
      live: 0,
      tombstones: 0,
      meanProbeLength: 0,
      maxProbeLength: 0,
    });
  });
});

describe.each(paths)("behind the longest probe, $name", ({ options }) => {
  it.each([
    { key: "u32", keys: counting(1000) },
    { key: "u64", keys: BigUint64Array.from(counting(1000), BigInt) },
  ] as const)("keys are not looked for: $key", async ({ key, keys }) => {
    const spec = { key, value: null, slots: 1000, hash: "murmur3" } as const;
    const table = (await (await open(options)).createTable(spec)) as AnyTable;
    const first = keys.subarray(0, 1);
    await table.insert(first, null, "keep", {});
    const { slots, slotCount, words } = table.inspect().memory;
    const home = slots.findIndex((word) => word !== EMPTY);
    await table.insert(keys, null, "keep", {});
    const { maxProbe } = table.inspect().counters;
    expect(maxProbe).toBe((await table.stats()).maxProbeLength);
    expect(maxProbe).toBeLessThan(slotCount);
    // puts the first key where it could never come to lie: who finds it looks at too many slots
    const behind = (home + maxProbe * words) % (slotCount * words);
    const [one, other] = [slots.slice(home, home + words), slots.slice(behind, behind + words)];
    slots.set(one, behind);
    slots.set(other, home);
    const { found } = await table.find(first, key === "u64" ? 0n : 0, "host", {});
    expectSame(found as Uint8Array, Uint8Array.of(0));
    expectSame((await table.contains(first, "host", {})) as Uint8Array, Uint8Array.of(0));
    expect(await table.erase(first, {})).toBe(0);
    expect(await table.insert(first, null, "keep", {})).toMatchObject({ existing: 0, rejected: 1 });
  });
});
