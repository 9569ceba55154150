// Every benchmark of bench/ in small: its report, its picture, and that it notices wrong answers. gups and static-map have
// files of their own.
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { MULTIMAPS } from "../../bench/published.js";
import type { BenchModule } from "../../bench/report.js";
import { asBits } from "../../src/engine/scalars.js";
import {
  type Device,
  type DeviceArray,
  DynamicMap,
  EngineError,
  openDevice,
  StaticMap,
  StaticMultimap,
  ValidationError,
} from "../../src/index.js";
import { DeviceTable } from "../../src/relational/index.js";
import { BloomFilter, HyperLogLog } from "../../src/sketches/index.js";
import { covering } from "../helpers/rounds.js";
import { expectPicture, expectReport } from "./expect-report.js";

// files of one process share modules: this one is to find none that another has loaded, and to leave none that hold its mocks
vi.hoisted(() => vi.resetModules());
afterAll(() => vi.resetModules());
// the random reads that benchmarks state ratios to: of a small table here
vi.mock("../../bench/gups.js", async (original) => (await import("./in-small.js")).smallGups(original));
vi.mock("../../bench/timing.js", async (original) => (await import("./in-small.js")).withoutWarmUp(original));

const benches: Record<string, { load: () => Promise<BenchModule>; size: number; wrongSize: number }> = {
  "group-size": { load: () => import("../../bench/group-size.js"), size: 200, wrongSize: 63 },
  "load-factor": { load: () => import("../../bench/load-factor.js"), size: 2048, wrongSize: 1000 },
  "probe-depth": { load: () => import("../../bench/probe-depth.js"), size: 5000, wrongSize: 1.5 },
  "retrieve-all": { load: () => import("../../bench/retrieve-all.js"), size: 501, wrongSize: 2 ** 31 },
  stream: { load: () => import("../../bench/stream.js"), size: 1000, wrongSize: 0 },
  skew: { load: () => import("../../bench/skew.js"), size: 1000, wrongSize: 7 },
  batch: { load: () => import("../../bench/batch.js"), size: 1000, wrongSize: 2 ** 24 },
  crossovers: { load: () => import("../../bench/crossovers.js"), size: 2048, wrongSize: 1000 },
};

const words = { load: () => import("../../bench/words.js"), size: 2000 };
const ids = { load: () => import("../../bench/ids.js"), size: 1000 };
const group = { load: () => import("../../bench/group.js"), size: 2000 };
const join = { load: () => import("../../bench/join.js"), size: 900 };
const multimap = { load: () => import("../../bench/multimap.js"), size: 1000 };
const wide = { load: () => import("../../bench/wide.js"), size: 500 };
const growth = { load: () => import("../../bench/growth.js"), size: 1000 };
const largeTable = { load: () => import("../../bench/large-table.js"), size: 2048 };

/** Engines that a benchmark measures: in `npm test` the GPU where it takes another way through the benchmark. */
const ON_GPU = ["stream", "join"];
const enginesOf = (name: string) =>
  covering(["cpu", "webgpu"] as const, (engine) => engine === "cpu" || ON_GPU.includes(name));

/** Devices of all benchmarks: kernels are compiled once. */
const devices: Partial<Record<"cpu" | "webgpu", Device>> = {};
beforeAll(async () => {
  devices.cpu = await openDevice({ backend: "cpu" });
  devices.webgpu = await openDevice({ backend: "webgpu", software: true });
});
afterAll(() => {
  for (const device of Object.values(devices)) device.destroy();
});

describe.each(Object.entries(benches))("%s", (name, { load, size, wrongSize }) => {
  it.each(enginesOf(name))("measures %s", async (backend) => {
    const { run } = await load();
    const steps: string[] = [];
    const report = await run(devices[backend] as Device, {
      size,
      runs: 1,
      onProgress: (step) => steps.push(step),
    });
    expectReport(report, name);
    expectPicture(report);
    expect(steps.length).toBeGreaterThan(0);
  });

  it("says which sizes it takes, and stops when it is told to", async () => {
    const { run } = await load();
    using device = await openDevice({ backend: "cpu", threads: 1 });
    await expect(run(device, { size: wrongSize })).rejects.toThrow(ValidationError);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(run(device, { size, runs: 1, signal })).rejects.toThrow("enough");
  });
});

it.each(enginesOf("crossovers"))("crossovers sweeps over load on %s", async (backend) => {
  const { run } = await benches.crossovers.load();
  const report = await run(devices[backend] as Device, { size: 2048, runs: 1, sweep: "load" });
  expectReport(report, "crossovers");
  expectPicture(report);
  const strategiesAt = (load: number, operation: string) =>
    report.rows
      .filter((row) => row.operation === operation && Math.abs(Number(row.load) - load) < 0.01)
      .map(({ strategy }) => strategy);
  expect(strategiesAt(0.97, "find")).toEqual([backend === "cpu" ? "threads" : "pages"]);
  expect(strategiesAt(0.97, "find, out of order")).toEqual(backend === "cpu" ? [] : ["partitions"]);
});

it.each(enginesOf("large-table"))("large-table measures %s", async (backend) => {
  const { run } = await largeTable.load();
  const report = await run(devices[backend] as Device, { size: largeTable.size });
  expectReport(report, "large-table");
  expect(report.rows.map(({ keys }) => keys)).toEqual([1024, 2048, 1024, 256, 768]);
});

const loadSketches = () => import("../../bench/sketches.js");

it.each(enginesOf("sketches"))("sketches measures %s", async (backend) => {
  const { run } = await loadSketches();
  const report = await run(devices[backend] as Device, { size: 4096, runs: 1 });
  expectReport(report, "sketches");
  const adds = report.rows.filter(({ operation }) => operation === "bloom add").length;
  expect(report.rows.map(({ operation }) => operation)).toEqual([
    ...Array.from({ length: adds }, () => ["bloom add", "bloom contains"]).flat(),
    ...Array(3).fill("hyperloglog add"),
  ]);
});

it("sketches notices keys that a filter or a HyperLogLog does not take in", async () => {
  const { run } = await loadSketches();
  for (const { prototype } of [BloomFilter, HyperLogLog] as { prototype: { add: BloomFilter["add"] } }[]) {
    const { add } = prototype;
    const spy = vi.spyOn(prototype, "add").mockImplementation(async function (this: BloomFilter, keys) {
      await add.call(this, keys, { mask: Uint8Array.from({ length: keys.length }, (_, i) => i & 3) });
    });
    await expect(run(devices.cpu as Device, { size: 4096, runs: 1 })).rejects.toThrow(EngineError);
    spy.mockRestore();
  }
});

it.each(enginesOf("multimap"))("multimap measures %s", async (backend) => {
  const { run } = await multimap.load();
  const { size } = multimap;
  const steps: string[] = [];
  const report = await run(devices[backend] as Device, {
    size,
    runs: 1,
    onProgress: (step) => steps.push(step),
  });
  expectReport(report, "multimap");
  expectPicture({ ...report, published: MULTIMAPS.map((each) => ({ ...each, size })) });
  // 2 containers, 5 calls, and 1, 8 or 64 equal keys
  expect(report.rows.length).toBe(30);
  expect(steps.length).toBe(3 + 6 + 30);
  const alone = await run(devices.cpu as Device, { size, runs: 1, multiplicity: 7 });
  expect(alone.rows.map((row) => row["equal keys"])).toEqual(new Array(10).fill(7));
  await expect(run(devices.cpu as Device, { size: 1 })).rejects.toThrow(ValidationError);
  await expect(run(devices.cpu as Device, { size, multiplicity: size + 1 })).rejects.toThrow(ValidationError);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(devices.cpu as Device, { size, runs: 1, signal })).rejects.toThrow("enough");
});

it.each(enginesOf("wide"))("wide measures %s", async (backend) => {
  const { run } = await wide.load();
  const { size } = wide;
  const report = await run(devices[backend] as Device, { size, runs: 1 });
  expectReport(report, "wide");
  expectPicture(report);
  // 4 operations and a fresh table, at 2 loads
  expect(report.rows.map(({ state }) => state)).toEqual(
    [1, 2].flatMap(() => [...new Array(4).fill("warm loop"), "fresh table"]),
  );
  // of inserts too
  expect(report.rows.slice(0, 4).every(({ strategy }) => strategy === "direct")).toBe(true);
  expect(report.rows[0]["bytes a slot"]).toBeGreaterThanOrEqual(16);
  expect(report.rows[0]["bytes a slot"]).toBeLessThan(25);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(devices.cpu as Device, { size, runs: 1, signal })).rejects.toThrow("enough");
});

it.each(["find", "erase"] as const)("wide notices a wrong answer of %s", async (call) => {
  const original: (...args: never) => unknown = StaticMap.prototype[call];
  vi.spyOn(StaticMap.prototype, call).mockImplementation(async function (
    this: StaticMap,
    ...args: unknown[]
  ) {
    const answer = (await original.apply(this, args as never)) as
      | { values: DeviceArray }
      | { erased: number };
    if ("erased" in answer) return { erased: answer.erased - 1 } as never;
    // the upper word of an element
    asBits((answer.values.storage as { host: BigUint64Array }).host)[101] ^= 1;
    return answer as never;
  } as never);
  const { run } = await wide.load();
  await expect(run(devices.cpu as Device, { size: wide.size, runs: 1 })).rejects.toThrow(EngineError);
  vi.restoreAllMocks();
});

it.each(enginesOf("growth"))("growth measures %s", async (backend) => {
  const { run } = await growth.load();
  const report = await run(devices[backend] as Device, { size: growth.size, runs: 1 });
  expectReport(report, "growth");
  expectPicture(report);
  // 2 maps: create, 8 batches and all of them, find
  expect(report.rows.length).toBe(22);
  await expect(run(devices.cpu as Device, { size: 63 })).rejects.toThrow(ValidationError);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(devices.cpu as Device, { size: growth.size, signal })).rejects.toThrow("enough");
});

it("growth tells the memory that growing takes, and notices a wrong answer", async () => {
  const { run } = await growth.load();
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const { rows } = await run(device, { size: 2 ** 16, runs: 1 });
  const [still, grown] = rows.flatMap((row) => row["peak MiB"] ?? []) as number[];
  // 16 bytes a pair; while it grows the last time, two tables and a copy of the entries
  expect(still).toBeGreaterThanOrEqual(1);
  expect(grown).toBeGreaterThan(1.25 * still);
  const { insert, find } = DynamicMap.prototype;
  vi.spyOn(DynamicMap.prototype, "insert").mockImplementationOnce(async function (this: DynamicMap, ...args) {
    const { inserted, existing } = await insert.apply(this, args as never);
    return { inserted: inserted - 1, existing: existing + 1 };
  });
  await expect(run(device, { size: growth.size, runs: 1 })).rejects.toThrow(EngineError);
  vi.spyOn(DynamicMap.prototype, "find").mockImplementationOnce(async function (this: DynamicMap, ...args) {
    const answer = await find.apply(this, args as never);
    flipOne((answer.values as unknown as DeviceArray).storage as { host: Uint32Array });
    return answer as never;
  });
  await expect(run(device, { size: growth.size, runs: 1 })).rejects.toThrow(EngineError);
  vi.restoreAllMocks();
});

it.each(enginesOf("group"))("group measures %s", async (backend) => {
  const { run } = await group.load();
  const { size } = group;
  const report = await run(devices[backend] as Device, { size, runs: 1 });
  expectReport(report, "group");
  // 8, 1,000 and 2,000 groups, three ways; on a CPU with DuckDB and Arquero, and flights in four
  expect(report.rows.length).toBe(backend === "cpu" ? 19 : 9);
  const skewed = await run(devices.cpu as Device, { size: 100, runs: 1, sweep: "skew" });
  expectReport(skewed, "group");
  await expect(run(devices.cpu as Device, { size: 0 })).rejects.toThrow(ValidationError);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(devices.cpu as Device, { size, runs: 1, signal })).rejects.toThrow("enough");
});

it.each(enginesOf("join"))("join measures %s", async (backend) => {
  const { run } = await join.load();
  const report = await run(devices[backend] as Device, { size: join.size, runs: 1 });
  expectReport(report, "join");
  const by = report.rows.map((row) => row.by);
  expect(by).toEqual(
    backend === "webgpu"
      ? ["warpmap", "luma.gl", "warpmap", "warpmap", "JS Map"]
      : ["warpmap", "warpmap", "warpmap", "JS Map", "DuckDB", "Arquero"],
  );
  expectPicture(report);
  await expect(run(devices.cpu as Device, { size: 0 })).rejects.toThrow(ValidationError);
});

it.each(["selectivity", "multiplicity", "skew"])("join sweeps over %s, with others beside", async (sweep) => {
  const { run } = await join.load();
  const report = await run(devices.cpu as Device, { size: join.size, runs: 1, sweep });
  expectReport(report, "join");
  expectPicture(report);
  expect(new Set(report.rows.map((row) => row[sweep])).size).toBe(5);
  expect(report.rows.filter(({ by }) => by === "DuckDB").length).toBe(5);
  const most = Math.max(...report.rows.map((row) => Number(row["result rows"])));
  expect(most).toBeLessThanOrEqual(join.size);
});

it("join notices wrong rows", async () => {
  const { checkRows, piecesOf, sidesOf } = await import("../../bench/join-points.js");
  const { join: joinTables } = await import("../../src/relational/index.js");
  const shapes = { rows: 50, selectivity: 0.5, multiplicity: 3, skew: 0 };
  for (const varied of [shapes, { ...shapes, selectivity: 1, multiplicity: 1, skew: 0.5 }]) {
    const point = { ...varied, key: "i64", arrow: true } as const;
    const { left, right, expected } = sidesOf(point);
    const joined = await joinTables(left, right, { on: ["key"], device: devices.cpu });
    const pieces = piecesOf(joined).map(([a, b]) => [Array.from(a), Array.from(b)] as const);
    const check = (rows: typeof pieces) => () => checkRows(rows, point, expected, "x");
    expect(check(pieces)).not.toThrow();
    expect(check(pieces.slice(1))).toThrow(`0 rows in place of ${expected}, x`);
    expect(check([...pieces, ...pieces])).toThrow("join: row");
    const [[a, b]] = pieces;
    expect(check([[a, [...b.slice(1), b[0]]]])).toThrow("join: row");
  }
});

it("join notices a wrong answer of luma.gl", async () => {
  const { lumaJoin } = await import("../../bench/luma-join.js");
  const left = Uint32Array.of(1, 2, 3);
  await expect(lumaJoin(devices.webgpu as Device, left, Uint32Array.of(3, 4, 1))).rejects.toThrow(
    "luma.gl found 2 pairs",
  );
});

it.each(enginesOf("words"))("words counts words on %s", async (backend) => {
  const { run } = await words.load();
  const report = await run(devices[backend] as Device, { size: words.size, runs: 1 });
  expectReport(report, "words");
  await expect(run(devices.cpu as Device, { size: 0 })).rejects.toThrow(ValidationError);
});

it("words notices a wrong count", async () => {
  const { insertOrApply } = DynamicMap.prototype;
  vi.spyOn(DynamicMap.prototype, "insertOrApply").mockImplementation(function (
    this: DynamicMap,
    keys,
    values,
  ) {
    return insertOrApply.call(this, keys, values, "max");
  });
  const { run } = await words.load();
  const measured = run(devices.cpu as Device, { size: words.size, runs: 1 });
  await expect(measured).rejects.toThrow(EngineError);
  vi.restoreAllMocks();
});

it.each(enginesOf("ids"))("ids looks ids up on %s", async (backend) => {
  const { run } = await ids.load();
  const report = await run(devices[backend] as Device, { size: ids.size, runs: 1 });
  expectReport(report, "ids");
  const operations = new Set(report.rows.map(({ operation }) => operation));
  expect([...operations]).toEqual(["create and insert", "find", "find, half absent"]);
  const signal = AbortSignal.abort(new Error("enough"));
  await expect(run(devices.cpu as Device, { size: ids.size, runs: 1, signal })).rejects.toThrow("enough");
});

it.each([
  ["ids", ids.load],
  ["large-table", largeTable.load],
  ["sketches", loadSketches],
  ["wide", wide.load],
] as const)("%s says which sizes it takes", async (_, load) => {
  const { run } = await load();
  await expect(run(devices.cpu as Device, { size: 2 ** 40 })).rejects.toThrow(ValidationError);
});

describe("a wrong answer", () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it.each([
    "group-size",
    "load-factor",
    "retrieve-all",
    "stream",
    "skew",
    "batch",
    "crossovers",
    "large-table",
    "ids",
  ])("of find is noticed by %s", async (name) => {
    const { find } = StaticMap.prototype;
    vi.spyOn(StaticMap.prototype, "find").mockImplementation(async function (this: StaticMap, ...args) {
      const answer = await find.apply(this, args as never);
      const values = "storage" in answer.values ? answer.values.storage : { host: answer.values };
      flipOne(values as { host: Uint32Array });
      return answer as never;
    });
    await expectRefused(name);
  });

  it.each(["group-size", "load-factor", "stream", "skew", "crossovers", "large-table"])(
    "of insert is noticed by %s",
    async (name) => {
      const { insert } = StaticMap.prototype;
      vi.spyOn(StaticMap.prototype, "insert").mockImplementation(async function (this: StaticMap, ...args) {
        const { inserted, existing } = await insert.apply(this, args as never);
        return { inserted: inserted - 1, existing: existing + 1 };
      });
      await expectRefused(name);
    },
  );

  it("of insertOrApply is noticed by skew", async () => {
    const { insertOrApply } = StaticMap.prototype;
    vi.spyOn(StaticMap.prototype, "insertOrApply").mockImplementation(async function (
      this: StaticMap,
      keys,
      values,
    ) {
      return insertOrApply.call(this, keys as never, values as never, "max");
    });
    await expectRefused("skew");
  });

  it.each(["count", "retrieve"] as const)("of %s is noticed by multimap", async (call) => {
    const original: (...args: never) => unknown = StaticMultimap.prototype[call];
    vi.spyOn(StaticMultimap.prototype, call).mockImplementation(async function (
      this: StaticMultimap,
      ...args: unknown[]
    ) {
      const answer = (await original.apply(this, args as never)) as DeviceArray | { values: DeviceArray };
      flipOne(("values" in answer ? answer.values : answer).storage as { host: Uint32Array });
      return answer as never;
    } as never);
    await expectRefused("multimap");
  });

  it("of a sum is noticed by group", async () => {
    const { toArrow } = DeviceTable.prototype;
    vi.spyOn(DeviceTable.prototype, "toArrow").mockImplementation(async function (this: DeviceTable) {
      const made = await toArrow.call(this);
      const words = made.getChild("total").data[0].values as BigInt64Array;
      words[words.length - 1]++;
      return made;
    });
    await expectRefused("group");
  });

  it("of stats is noticed by probe-depth", async () => {
    const { stats } = StaticMap.prototype;
    vi.spyOn(StaticMap.prototype, "stats").mockImplementation(async function (this: StaticMap) {
      const answer = await stats.call(this);
      return { ...answer, meanProbeLength: answer.meanProbeLength + 1 };
    });
    await expectRefused("probe-depth");
  });
});

function flipOne({ host }: { host: Uint32Array }): void {
  if (host.length > 0) host[host.length >> 1] ^= 1;
}

async function expectRefused(name: string): Promise<void> {
  const { load, size } =
    benches[name] ?? { group, multimap, ids, "large-table": largeTable }[name] ?? largeTable;
  const { run } = await load();
  using device = await openDevice({ backend: "cpu", threads: 1 });
  await expect(run(device, { size, runs: 1 })).rejects.toThrow(EngineError);
}
