/** Workers that do not do what they should: each test runs the engine with a worker program of its own. */
import { afterEach, describe, expect, it, vi } from "vitest";
import type { CpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { EngineError } from "../../src/errors.js";
import type { AnyTable } from "../engine/cpu/drive.js";
import { checkTable } from "../helpers/check-table.js";
import { runProgram } from "../helpers/run-program.js";

const tuning = {
  chunk: 2 ** 12,
  lookUpFrom: 1,
  changeFrom: 1,
  share: 2 ** 8,
  slice: 2 ** 8,
  grain: 2 ** 8,
  ranges: 16,
  pause: 0,
};
const keys = Uint32Array.from({ length: 2 ** 14 }, (_, i) => i * 7);

let engine: CpuEngine | undefined;
afterEach(() => {
  engine?.destroy();
  vi.doUnmock("../../src/host/worker.ts?worker-source");
  vi.resetModules();
});

/** Opens an engine of two threads whose worker runs `source`. */
async function openWith(source: string): Promise<AnyTable> {
  vi.resetModules();
  vi.doMock("../../src/host/worker.ts?worker-source", () => ({ default: source }));
  const { openCpuEngine } = await import("../../src/engine/cpu/cpu-engine.js");
  engine = (await openCpuEngine({ threads: 2, tuning })) as CpuEngine;
  await engine.sharing.warmUp();
  return (await engine.createTable({
    key: "u32",
    value: "u32",
    slots: 2 ** 15,
    hash: "murmur3",
  })) as AnyTable;
}

const port = 'const { parentPort: port } = require("node:worker_threads");';

describe("workers", () => {
  it("that cannot start leave the work to the calling thread, and info says so", async () => {
    const table = await openWith('throw new Error("not allowed here")');
    expect(engine?.info).toMatchObject({
      threads: 1,
      name: "CPU, 1 thread (workers are refused: not allowed here)",
    });
    expect(await table.insert(keys, keys, "keep", {})).toMatchObject({ inserted: keys.length });
    checkTable(table);
  });

  it("that never come to a job are not waited for", async () => {
    const table = await openWith(`${port} port.postMessage({ id: 0 }); port.on("message", () => {});`);
    expect(engine?.info.threads).toBe(2);
    expect(await table.insert(keys, keys, "keep", {})).toMatchObject({ inserted: keys.length });
    expect(await table.erase(keys, {})).toBe(keys.length);
  });

  it("that die in a job reject it; the table is valid, and the next call works", async () => {
    // joins, takes the first piece of the job with it, and dies
    const table = await openWith(`${port} port.postMessage({ id: 0 });
      port.on("message", ({ seat: { control, worker }, input }) => {
        if (input.kind !== "insert" || Atomics.compareExchange(control, 1 + worker, 0, 1) !== 0) return;
        Atomics.add(control, 0, 1);
        throw new Error("gone");
      });`);
    // The calling thread begins at once, so the worker joins a job only when it is quick enough: try until it
    // is.
    let error: unknown;
    for (let attempt = 0; attempt < 200 && error === undefined; attempt++) {
      await table.clear();
      await table.insert(keys, keys, "keep", {}).catch((e: unknown) => {
        error = e;
      });
    }
    expect((error as Error).name).toBe(EngineError.name);
    expect((error as Error).message).toContain("gone");
    const entries = checkTable(table);
    expect(entries.size).toBeLessThan(keys.length);
    for (const [key, value] of entries) if (key !== value) expect(value).toBe(key);
    const { inserted, existing } = await table
      .insert(keys, keys, "keep", {})
      .catch(() => table.insert(keys, keys, "keep", {}));
    expect(inserted + existing).toBe(keys.length);
    expect(checkTable(table).size).toBe(keys.length);
  });
});

it("workers whose code does not load leave later calls to the calling thread", async () => {
  vi.resetModules();
  vi.doMock("../../src/engine/cpu/table/parallel.js", () => {
    throw new Error("offline");
  });
  try {
    const { openCpuEngine } = await import("../../src/engine/cpu/cpu-engine.js");
    engine = (await openCpuEngine({ threads: 2, tuning })) as CpuEngine;
    expect(engine.info.threads).toBe(2);
    const spec = { key: "u32", value: null, slots: 2 ** 15, hash: "murmur3" } as const;
    const table = await engine.createTable(spec);
    await expect(table.insert(keys, null, "keep", {})).rejects.toThrow();
    expect(engine.info).toMatchObject({ threads: 1, name: expect.stringContaining("workers do not load") });
    expect(await table.insert(keys, null, "keep", {})).toMatchObject({ inserted: keys.length });
  } finally {
    vi.doUnmock("../../src/engine/cpu/table/parallel.js");
  }
});

describe("a Node process", () => {
  const program = (rest: string) => `import { openDevice, StaticMap } from "warpmap";
    const device = await openDevice({ backend: "cpu", threads: 2 });
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 1 << 20 });
    const keys = Uint32Array.from({ length: 1 << 20 }, (_, i) => i);
    ${rest}`;

  it("ends by itself after multi-threaded calls, without destroy", async () => {
    const { status, stdout } = await runProgram(
      program("console.log((await map.insert(keys, keys)).inserted)"),
    );
    expect([status, stdout.trim()]).toEqual([0, String(1 << 20)]);
  });

  it("stays until a call that it started is done", async () => {
    const { status, stdout } = await runProgram(
      program("map.insert(keys, keys).then((r) => console.log(r.inserted));"),
    );
    expect([status, stdout.trim()]).toEqual([0, String(1 << 20)]);
  });

  it("stays until its threads are up", async () => {
    const prepare =
      'device.prepare([{ key: "u32", value: "u32", capacity: 1 }]).then(() => console.log("ready"))';
    const { status, stdout } = await runProgram(program(prepare));
    expect([status, stdout.trim()]).toEqual([0, "ready"]);
  });

  it("has prepare reject with DeviceLostError when the device is destroyed", async () => {
    const { status, stdout } = await runProgram(
      program(`const prepared = device.engine.prepare().catch((e) => console.log(e.code));
        await Promise.resolve();
        device.destroy();
        await prepared;`),
    );
    expect([status, stdout.trim()]).toEqual([0, "DEVICE_LOST"]);
  });

  it("has calls under way reject with DeviceLostError when the device is destroyed", async () => {
    const { status, stdout } = await runProgram(
      program(`const call = map.insert(keys, keys).catch((e) => console.log(e.code));
        await new Promise((resolve) => setTimeout(resolve, 1));
        device.destroy();
        await call;`),
    );
    expect([status, stdout.trim()]).toEqual([0, "DEVICE_LOST"]);
  });
});
