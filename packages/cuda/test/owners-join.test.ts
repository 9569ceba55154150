/**
 * Joins of several GPUs by the owners of parts of mixed keys. The stand-in runs the commands of a stream only when
 * somebody waits for them, so that what is not ordered goes wrong.
 */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Device, openDevice, type Plan } from "../../../src/index.js";
import { join } from "../../../src/relational/index.js";
import { counting, uniqueKeys } from "../../../test/conformance/helpers/keys.js";
import { covering } from "../../../test/helpers/rounds.js";
import { CudaRuntime } from "../src/runtime/cuda-runtime.js";
import { useFaults } from "./helpers/emulator.js";
import { expectSameRows, openSeveral, restoreEngine, textsOf } from "./helpers/several.js";

const inject = useFaults();
beforeEach(() => inject("LAZY", 1));
afterEach(restoreEngine);

function openOwners(gpus: number, peers = true): Promise<Device> {
  inject("DEVICES", 2);
  openSeveral(
    Array.from({ length: gpus }, (_, i) => i % 2),
    { peers, tuning: { partedJoin: { leastRows: 0, narrow: false } } },
  );
  return openDevice({ backend: "cuda", seed: 5 });
}

const byNumber = (a: number, b: number) => a - b;

/** So many that each of 8 GPUs has some. */
const BUILDS = 16_000;
/** Every other build key has a partner, of three probe rows. */
const probeKeys = Array.from(uniqueKeys(BUILDS / 2)).flatMap((key) => [key, ~key, key]);
const build = {
  id: uniqueKeys(BUILDS),
  wide: BigInt64Array.from(uniqueKeys(BUILDS), (key) => BigInt(key) << 20n),
  one: Int32Array.from(counting(BUILDS), (i) => -i),
  two: Float64Array.from(counting(BUILDS), (i) => i / 3),
};
const longer = Uint32Array.from([...probeKeys, ...probeKeys]);
const probe = {
  id: longer,
  wide: BigInt64Array.from(longer, (key) => BigInt(key) << 20n),
  big: BigUint64Array.from(longer, (_, i) => BigInt(i) << 36n),
  small: counting(longer.length),
};
type Names<T> = readonly (keyof T)[];
const of = <T extends object>(table: T, names: Names<T>) =>
  Object.fromEntries(names.map((name) => [name, table[name]])) as never;

/** The rows of an inner join on the first column of both, as texts. */
function expectedRows(names: readonly string[], on: string, isTurned: boolean): string[] {
  const [left, right]: Record<string, ArrayLike<unknown>>[] = isTurned ? [probe, build] : [build, probe];
  const rowsOf = new Map(Array.from(build[on as "id"], (key, i) => [key, i]));
  const rows: string[] = [];
  for (let i = 0; i < probe.id.length; i++) {
    const partner = rowsOf.get(probe[on as "id"][i]);
    if (partner === undefined) continue;
    const entries = names.map((name) => {
      const table = name in left ? left : right;
      const value = table[name][table === (build as unknown) ? partner : i];
      return [name, typeof value === "bigint" ? Number(value) : value];
    });
    rows.push(...textsOf({ toArray: () => [Object.fromEntries(entries)] }));
  }
  return rows.sort();
}

describe.each([
  [2, true],
  [3, false],
  [8, true],
])("on %s GPUs, which reach each other: %s", (gpus, peers) => {
  const shapes = [
    ["id", ["one"], ["small"], false],
    ["id", ["two"], ["big"], true],
    ["id", [], ["small"], true],
    ["id", ["one"], [], false],
    ["wide", ["one"], ["small"], true],
  ] as const;
  it.each(covering(shapes, (_, i) => (i + gpus) % 3 !== 0))(
    "answers as a Map does: by %s, with %j and %j",
    async (on, ofBuild, ofProbe, isTurned) => {
      using device = await openOwners(gpus, peers);
      const before = device.memory.inUse;
      {
        using a = await device.uploadTable(of(build, [on, ...ofBuild]));
        using b = await device.uploadTable(of(probe, [on, ...ofProbe]));
        const [left, right] = isTurned ? [b, a] : [a, b];
        const plans: Plan[] = [];
        const onPlan = (plan: Plan) => plans.push(plan);
        using joined = await join(left, right, { on: [on], output: "device", onPlan });
        const sides = isTurned ? [...ofProbe, ...ofBuild] : [...ofBuild, ...ofProbe];
        const expected = expectedRows([on, ...sides], on, isTurned);
        expectSameRows(textsOf(await joined.toArrow()).sort(), expected);
        expect(plans[0].reason).toMatch(/matched part by part; .+; \d+ of 64000 rows went to another/);
        expect(plans[0].reason).toContain("rows were split where they are");
      }
      expect(device.memory.inUse).toBe(before);
    },
  );
});

it.each([1, 7, 40, 300])("%s rows on 7 GPUs, of which some have no part", async (rows) => {
  using device = await openOwners(7);
  for (const others of [1, 50, 1000]) {
    using a = await device.uploadTable({ id: uniqueKeys(rows), one: counting(rows) });
    using b = await device.uploadTable({ id: uniqueKeys(others), two: counting(others) });
    using joined = await join(a, b, { on: ["id"], output: "device" });
    const arrow = await joined.toArrow();
    const [one, two] = ["one", "two"].map((name) => Array.from(arrow.getChild(name) as Iterable<number>));
    const expected = Array.from(counting(Math.min(rows, others)));
    expect([one.toSorted(byNumber), two]).toEqual([expected, one]);
  }
});

describe("other ways are taken", () => {
  it.each([
    ["keys of both sides repeat", [1, 2, 2, 3], 0],
    ["one key has most rows", [1, 2, 3, 4], 20_000],
  ])("where %s, from the second call on at once", async (_, builds, hot) => {
    const begin = vi.spyOn(CudaRuntime.prototype, "begin");
    const tried = () => begin.mock.calls.filter(([label]) => label === "starts of owners").length;
    using device = await openOwners(2);
    const ids = Uint32Array.from({ length: 4000 }, (_, i) => builds[i % 4] + 4 * Math.floor(i / 4));
    const asked = Uint32Array.from({ length: 24_000 }, (_, i) => (i < hot ? 7 : i % 4003));
    using a = await device.uploadTable({ id: ids, one: counting(ids.length) });
    using b = await device.uploadTable({ id: asked, two: counting(asked.length) });
    const rowsOf = new Map<number, number>();
    for (const id of ids) rowsOf.set(id, (rowsOf.get(id) ?? 0) + 1);
    const expected = asked.reduce((sum, id) => sum + (rowsOf.get(id) ?? 0), 0);
    const before = device.memory.inUse;
    for (let time = 0; time < 3; time++) {
      const plans: Plan[] = [];
      using joined = await join(a, b, { on: ["id"], output: "device", onPlan: (plan) => plans.push(plan) });
      expect(joined.numRows).toBe(expected);
      expect(plans[0].reason).not.toContain("part by part; ");
      expect(plans[0].reason).not.toContain("rows were split where they are");
      expect(plans[0].reason).toContain("rows went to another of 2 GPUs");
      // of both sides on two GPUs
      expect(tried()).toBe(4);
    }
    begin.mockRestore();
    expect(device.memory.inUse).toBe(before);
  });

  it("for skewed rows alone, not for others that are looked up in the same side", async () => {
    using device = await openOwners(2);
    using a = await device.uploadTable({ id: counting(4000), one: counting(4000) });
    const even = counting(24_000).map((i) => i % 4003);
    using hot = await device.uploadTable({ id: even.map((id, i) => (i < 20_000 ? 7 : id)), two: even });
    using b = await device.uploadTable({ id: even, two: even });
    const ways: boolean[] = [];
    for (const other of [b, hot, b, hot]) {
      const onPlan = ({ reason }: Plan) => ways.push(reason.includes("rows were split where they are"));
      using joined = await join(a, other, { on: ["id"], output: "device", onPlan });
      expect(joined.numRows).toBeGreaterThan(20_000);
    }
    expect(ways).toEqual([true, false, true, false]);
  });

  it("a call that ends at any submission leaves nothing behind, nor does one whose progress throws", async () => {
    using device = await openOwners(3);
    using a = await device.uploadTable(of(build, ["id", "one"]));
    using b = await device.uploadTable(of(probe, ["id", "small"]));
    const before = device.memory.inUse;
    const { begin } = CudaRuntime.prototype;
    let isAborted = true;
    for (let last = 1; isAborted; last += 3) {
      const abort = new AbortController();
      let submitted = 0;
      const spy = vi.spyOn(CudaRuntime.prototype, "begin").mockImplementation(function (
        this: never,
        ...asked
      ) {
        if (++submitted === last) abort.abort(new Error("enough"));
        return begin.apply(this, asked);
      });
      const call = join(a, b, { on: ["id"], output: "device", signal: abort.signal });
      const answer = await call.catch((error: unknown) => error);
      spy.mockRestore();
      isAborted = answer instanceof Error;
      if (isAborted) expect((answer as Error).message).toBe("enough");
      else (answer as Disposable)[Symbol.dispose]();
      expect(device.memory.inUse).toBe(before);
    }
    const told: number[] = [];
    const onProgress = (done: number) => {
      told.push(done);
      throw new Error("no more");
    };
    await expect(join(a, b, { on: ["id"], output: "device", onProgress })).rejects.toThrow("no more");
    expect([told, device.memory.inUse]).toEqual([[4 * BUILDS], before]);
  });

  it("an abort ends the call, and gives its memory back", async () => {
    using device = await openOwners(3);
    using a = await device.uploadTable(of(build, ["id", "one"]));
    using b = await device.uploadTable(of(probe, ["id", "small"]));
    const before = device.memory.inUse;
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(join(a, b, { on: ["id"], output: "device", signal })).rejects.toThrow("enough");
    expect(device.memory.inUse).toBe(before);
    using joined = await join(a, b, { on: ["id"], output: "device" });
    expect(joined.numRows).toBe(expectedRows(["id"], "id", false).length);
  });
});
