import { expect, it } from "vitest";
import { PassTimer } from "../../bench/pass-times.js";
import { run } from "../../bench/static-map.js";
import { openDevice, StaticMap, ValidationError } from "../../src/index.js";
import { expectReport } from "./expect-report.js";

const size = 5000;

it("measures the CPU engine and a JS Map in turn", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const steps: string[] = [];
  const report = await run(device, { size, runs: 1, onProgress: (step) => steps.push(step) });
  expectReport(report, "static-map");
  expect(steps).toContain("erase of 5000 keys");
  const all = ["cpu, 2 threads", "cpu, 1 thread", "JS Map"];
  const engine = all.slice(0, 2);
  const by = { insert: all, "find present": all, "find absent": all, erase: engine, retrieveAll: engine };
  expect(report.rows.map(({ operation, on }) => [operation, on])).toEqual(
    Object.entries(by).flatMap(([operation, names]) => names.map((name) => [operation, name])),
  );
  for (const row of report.rows) {
    expect("ratio to JS Map" in row).toBe(row.operation !== "erase" && row.operation !== "retrieveAll");
  }
});

it("measures a GPU, its kernels too", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const report = await run(device, { size, runs: 1 });
  expectReport(report, "static-map");
  expect(report.rows.map(({ operation }) => operation)).toEqual([
    "insert",
    "find present",
    "find absent",
    "erase",
    "retrieveAll",
  ]);
  const stamped = device.gpuDevice?.features.has("timestamp-query");
  for (const row of report.rows) expect("kernel ms" in row).toBe(stamped);
});

it("leaves the device as it was after timing its passes", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const gpu = device.gpuDevice as GPUDevice;
  const timer = PassTimer.open(gpu);
  if (timer === null) return expect(gpu.features.has("timestamp-query")).toBe(false);
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
  const { times, result } = await timer.time(() => map.insert(Uint32Array.of(1, 2), Uint32Array.of(3, 4)));
  expect(result).toEqual({ inserted: 2, existing: 0 });
  expect(times.size).toBeGreaterThan(0);
  expect(Object.hasOwn(gpu, "createCommandEncoder")).toBe(false);
  await expect(
    timer.time(() => {
      throw new Error("the call failed");
    }),
  ).rejects.toThrow("the call failed");
  expect(Object.hasOwn(gpu, "createCommandEncoder")).toBe(false);
  timer.destroy();
});

it("says how many keys a map can have, and stops when it is told to", async () => {
  using device = await openDevice({ backend: "cpu" });
  for (const wrong of [0, 1.5, 2 ** 32])
    await expect(run(device, { size: wrong })).rejects.toThrow(ValidationError);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(device, { size, runs: 1, signal })).rejects.toThrow("enough");
});
