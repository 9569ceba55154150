/** The cpu engine in a browser: its workers start from a Blob URL and share memory with the page, which is cross-origin isolated. */
import { expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { TABLE_JOBS } from "../../src/engine/cpu/table/table-jobs.js";
import { countWorkers } from "../helpers/count-workers.js";

it("runs batches on workers over shared memory", async () => {
  expect(globalThis.crossOriginIsolated).toBe(true);
  const engine = (await openCpuEngine({ threads: 2 })) as CpuEngine;
  expect(engine.info).toMatchObject({ name: "CPU, 2 threads", threads: 2, features: ["shared-memory"] });
  const table = await engine.createTable<"u32", "u32">({
    key: "u32",
    value: "u32",
    slots: 2 ** 20,
    hash: "murmur3",
  });
  const keys = Uint32Array.from({ length: 2 ** 19 }, (_, i) => i * 3);
  const workers = await countWorkers(engine.host, TABLE_JOBS);
  expect(await table.insert(keys, keys, "keep", {})).toEqual({
    inserted: keys.length,
    existing: 0,
    rejected: 0,
  });
  expect(await table.insert(keys, keys, "add", {})).toEqual({
    inserted: 0,
    existing: keys.length,
    rejected: 0,
  });
  const { values, found } = await table.find(keys, 0, "host", {});
  if (!(values instanceof Uint32Array && found instanceof Uint8Array)) throw new Error("not on the host");
  expect(found.every((flag) => flag === 1)).toBe(true);
  expect(values.every((value, i) => value === i * 6)).toBe(true);
  expect(await table.erase(keys, {})).toBe(keys.length);
  workers.expectSome();
  engine.destroy();
  await expect(table.contains(keys, "host", {})).rejects.toMatchObject({ code: "DEVICE_LOST" });
});
