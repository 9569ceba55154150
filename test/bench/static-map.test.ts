import { afterAll, expect, it, vi } from "vitest";
import { PassTimer } from "../../bench/pass-times.js";
import { run } from "../../bench/static-map.js";
import { openDevice, StaticMap, ValidationError } from "../../src/index.js";
import { expectPicture, expectReport } from "./expect-report.js";

// files of one process share modules: this one is to find none that another has loaded, and to leave none that hold its mocks
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
// the random reads that benchmarks state ratios to: of a small table here
vi.mock("../../bench/gups.js", async (original) => (await import("./in-small.js")).smallGups(original));

const size = 5000;

it("measures the CPU engine and a JS Map in turn", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const steps: string[] = [];
  const report = await run(device, { size, runs: 1, onProgress: (step) => steps.push(step) });
  expectReport(report, "static-map");
  expectPicture(report);
  expect(steps).toContain("erase of 5000 keys");
  const all = ["cpu, 2 threads", "cpu, 1 thread", "JS Map"];
  const engine = all.slice(0, 2);
  const by = {
    insert: all,
    "insert zipf(1.0)": engine,
    "find present": all,
    "find half absent": all,
    "find absent": all,
    erase: engine,
    retrieveAll: engine,
    "find of 1,000 host keys": engine,
  };
  expect(report.rows.map(({ operation, on }) => [operation, on])).toEqual(
    Object.entries(by).flatMap(([operation, names]) => names.map((name) => [operation, name])),
  );
  for (const row of report.rows) {
    expect("ratio to JS Map" in row).toBe(/^(insert|find .*(present|absent))$/.test(String(row.operation)));
  }
});

it("measures a GPU, its kernels too", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const report = await run(device, { size, runs: 1 });
  expectReport(report, "static-map");
  expectPicture(report);
  expect(report.rows.map(({ operation, load }) => `${operation} at ${load}`)).toEqual([
    "insert at 0.5",
    "insert zipf(1.0) at 0.5",
    "find present at 0.5",
    "find half absent at 0.5",
    "find absent at 0.5",
    "erase at 0.5",
    "retrieveAll at 0.5",
    "find of 1,000 host keys at 0.5",
    "insert at 0.95",
    "find present at 0.95",
  ]);
  const stamped = device.gpuDevice?.features.has("timestamp-query");
  for (const row of report.rows) expect("kernel ms" in row).toBe(stamped);
});

it("sweeps over sizes and loads", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const sizes = await run(device, { size: 5000, runs: 1, sweep: "size" });
  expectReport(sizes, "static-map");
  expectPicture(sizes);
  expect([...new Set(sizes.rows.map((row) => row.size))]).toEqual([1024, 4096, 5000]);
  const loads = await run(device, { size: 1000, runs: 1, sweep: "load" });
  expectReport(loads, "static-map");
  expectPicture(loads);
  expect([...new Set(loads.rows.map((row) => row.load))]).toEqual([
    0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.97,
  ]);
  await expect(run(device, { sweep: "colour" })).rejects.toThrow(ValidationError);
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
