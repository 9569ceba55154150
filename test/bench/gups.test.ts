import { expect, it } from "vitest";
import { GpuClock } from "../../bench/gpu-clock.js";
import { measureGups, run } from "../../bench/gups.js";
import { openDevice, ValidationError } from "../../src/index.js";
import { expectPicture, expectReport } from "./expect-report.js";

const size = 2 ** 12;

it("measures the CPU with one thread and with all", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = await run(device, { size, runs: 1 });
  expectReport(report, "gups");
  expectPicture(report);
  expect(report.parameters).toMatchObject({ entries: size, clock: "wall clock" });
  expect(report.rows.map(({ operation, threads }) => [operation, threads])).toEqual([
    ["random 8-byte reads", 1],
    ["random 8-byte reads", 2],
    ["copy", 1],
    ["copy", 2],
  ]);
});

it("measures a GPU", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const report = await run(device, { size, runs: 1 });
  expectReport(report, "gups");
  expectPicture(report);
  expect(report.rows.map(({ operation }) => operation)).toEqual(["random 8-byte reads", "copy"]);
});

it("times passes by the wall clock where there are no timestamps", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const clock = new GpuClock(device.gpuDevice as GPUDevice, "wall clock");
  expect(await clock.time(() => {})).toBeGreaterThan(0);
  clock.destroy();
});

it("says what a table can have", async () => {
  using device = await openDevice({ backend: "cpu" });
  for (const entries of [0, 512, 3000, 2 ** 31]) {
    expect(() => measureGups(device, { entries, runs: 1 })).toThrow(ValidationError);
  }
});
