// The benchmark lifecycle in small: all of its parts with their states, cold processes among them, and that it notices wrong answers.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { bundleLibrary } from "../../bench/bundle.mjs";
import { figureOf } from "../../bench/figures/index.js";
import { run } from "../../bench/lifecycle.js";
import { CUCO_LIFECYCLE } from "../../bench/published.js";
import type { BenchReport, BenchRow } from "../../bench/report.js";
import {
  type Device,
  EngineError,
  LimitError,
  openDevice,
  StaticMap,
  ValidationError,
} from "../../src/index.js";
import { covering } from "../helpers/rounds.js";
import { expectPicture, expectReport } from "./expect-report.js";

// files of one process share modules: this one is to find none that another has loaded, and to leave none that hold its mocks
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
// the device rests for seconds
const rested: number[] = [];
vi.mock("../../bench/timing.js", async (original) => ({
  ...(await original<object>()),
  rest: async (seconds: number) => {
    rested.push(seconds);
  },
}));

let url = "";
beforeAll(async () => {
  url = await bundleLibrary();
});
const library = async () => url;
const size = 1000;

const rowsIn = (report: BenchReport, state: string) => report.rows.filter((row) => row.state === state);
/** The phases that a row has, in its order. */
const phasesOf = (row: BenchRow) => Object.keys(row).flatMap((name) => /^(\w+) ms$/.exec(name)?.[1] ?? []);

async function expectAll(device: Device, engines: string[]): Promise<void> {
  rested.length = 0;
  const steps: string[] = [];
  const report = await run(device, { size, runs: 1, library, onProgress: (step) => steps.push(step) });
  expectReport(report, "lifecycle");
  expectPicture(report);
  expect(steps[0]).toBe("a cold process, 1000 keys");

  const [own] = engines;
  const cold = rowsIn(report, "cold process");
  expect(cold.map(({ on, size }) => [on, size])).toEqual([[own, size]]);
  expect(phasesOf(cold[0])).toEqual(["import", "open", "create", "insert", "find", "total"]);
  const phases = ["import", "open", "create", "insert", "find"].map((name) => Number(cold[0][`${name} ms`]));
  expect(cold[0]["total ms"]).toBeCloseTo(phases.reduce((sum, ms) => sum + ms, 0));

  const [first] = rowsIn(report, "first table");
  const fresh = rowsIn(report, "fresh table");
  expect([first, ...fresh].map(({ on }) => on)).toEqual([own, ...engines, "JS Map"]);
  for (const row of [first, ...fresh]) {
    const all = ["create", "insert", "find", "destroy", "total"];
    expect(phasesOf(row)).toEqual(row.on === "JS Map" ? all.filter((phase) => phase !== "destroy") : all);
  }

  expect(rested).toEqual([1, 3, 10]);
  expect(rowsIn(report, "after rest").map((row) => [row["rest s"], row["find number"]])).toEqual(
    rested.flatMap((seconds) => [1, 2, 10].map((call) => [seconds, call])),
  );
  const few = rowsIn(report, "warm loop").filter(({ keys }) => keys !== undefined);
  expect(few.map(({ keys, on }) => [keys, on])).toEqual(
    [1, 4, 16, 64, 256].flatMap((keys) => [...engines, "JS Map"].map((on) => [keys, on])),
  );
}

it("measures the cpu engine", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  await expectAll(device, ["cpu, 2 threads"]);
});

it.each(covering(["webgpu"] as const, () => false))("measures %s beside the cpu engine", async (backend) => {
  using device = await openDevice({ backend, software: true });
  using cpu = await openDevice({ backend: "cpu" });
  await expectAll(device, ["webgpu", `cpu, ${cpu.info.threads} threads`]);
});

it("has every size up to the largest, and draws 2^27 beside cuCollections", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const report = await run(device, { size: 2 ** 16 + 1, runs: 1, library });
  expect(rowsIn(report, "fresh table").map((row) => row.size)).toEqual([
    2 ** 16,
    2 ** 16 + 1,
    2 ** 16,
    2 ** 16 + 1,
  ]);
  const rows = report.rows.map((row) => (row.size === 2 ** 16 + 1 ? { ...row, size: 2 ** 27 } : row));
  const large = { ...report, rows, published: CUCO_LIFECYCLE };
  expectPicture(large);
  const bars = figureOf(large)?.panels.find(({ title }) => title.endsWith("a fresh table"));
  expect(bars?.kind === "bars" && bars.groups.at(-1)).toMatchObject({
    label: "cuco::static_map, H100, timed beside",
    bars: [{ value: 1.1 }, { value: 13 }, { value: 6.2 }, { value: 2 }, { value: 22 }],
  });
});

it("goes on with smaller tables where the largest does not fit", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const { upload } = device;
  const most = 2 ** 16;
  vi.spyOn(device, "upload").mockImplementation(async (array) => {
    if (array.length > most) throw new LimitError("maxBufferSize", array.length, most, "Use less.");
    return upload.call(device, array) as never;
  });
  const report = await run(device, { size: most + 1, runs: 1, library });
  expectReport(report, "lifecycle");
  for (const state of ["first table", "fresh table", "after rest"]) {
    const sizes = rowsIn(report, state).flatMap(({ size, on }) => (on === "JS Map" ? [] : [size]));
    expect(new Set(sizes)).toEqual(new Set([most]));
  }
  expect(report.notes.at(-1)).toMatch(/^65537 keys do not fit this device\. .*maxBufferSize/);
});

it("says which sizes it takes, and stops when it is told to", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  await expect(run(device, { size: 0, library })).rejects.toThrow(ValidationError);
  await expect(run(device, { size, runs: 1 })).rejects.toThrow(ValidationError);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(device, { size, runs: 1, library, signal })).rejects.toThrow("enough");
  const late = new AbortController();
  const stopped = run(device, {
    size,
    runs: 1,
    library: async () => {
      setTimeout(() => late.abort(new Error("later")), 20);
      return url;
    },
    signal: late.signal,
  });
  await expect(stopped).rejects.toThrow("later");
});

describe("a failure", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });
  const onOneThread = async (library: () => Promise<string>) => {
    using device = await openDevice({ backend: "cpu", threads: 1 });
    return await run(device, { size, runs: 1, library });
  };
  const asUrl = (code: string) => async () => `data:text/javascript,${encodeURIComponent(code)}`;

  it("of a cold process is told", async () => {
    await expect(onOneThread(asUrl("throw new Error('no such thing')"))).rejects.toThrow("no such thing");
    await expect(onOneThread(asUrl("process.exit(0)"))).rejects.toThrow("without an answer: 0");
    const killed =
      "console.error('no room'); process.kill(process.pid, 'SIGKILL'); await new Promise(() => {});";
    await expect(onOneThread(asUrl(killed))).rejects.toThrow("without an answer: SIGKILL. no room");
  });

  it("of a cold process that finds a wrong value is told", async () => {
    const wrong = `
      export * from ${JSON.stringify(url)};
      import { StaticMap } from ${JSON.stringify(url)};
      const { find } = StaticMap.prototype;
      StaticMap.prototype.find = async function (...args) {
        const answer = await find.apply(this, args);
        answer.values[500] ^= 1;
        return answer;
      };`;
    await expect(onOneThread(asUrl(wrong))).rejects.toThrow("key number 500 was not found");
  });

  it("of a cold process for want of memory is a note", async () => {
    const limited = `
      export * from ${JSON.stringify(url)};
      export class StaticMap {
        static async create() { throw Object.assign(new Error("too large"), { code: "LIMIT" }); }
      }`;
    const report = await onOneThread(asUrl(limited));
    expect(rowsIn(report, "cold process")).toEqual([]);
    expect(report.notes.at(-1)).toBe("1000 keys do not fit a cold process. too large");
  });

  it("of find is noticed", async () => {
    const { find } = StaticMap.prototype;
    vi.spyOn(StaticMap.prototype, "find").mockImplementation(async function (this: StaticMap, ...args) {
      const answer = await find.apply(this, args as never);
      const values = "storage" in answer.values ? answer.values.storage : { host: answer.values };
      (values as { host: Uint32Array }).host[0] ^= 1;
      return answer as never;
    });
    await expect(onOneThread(library)).rejects.toThrow(EngineError);
  });

  it("of insert is noticed", async () => {
    const { insert } = StaticMap.prototype;
    vi.spyOn(StaticMap.prototype, "insert").mockImplementation(async function (this: StaticMap, ...args) {
      const { inserted, existing } = await insert.apply(this, args as never);
      return { inserted: inserted - 1, existing: existing + 1 };
    });
    await expect(onOneThread(library)).rejects.toThrow("999 of 1000 keys were inserted");
  });
});
