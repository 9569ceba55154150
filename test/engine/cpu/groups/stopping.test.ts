// Grouping that is stopped, fails, or ends: what it rejects with, and that its memory is given back.
import { afterEach, describe, expect, it } from "vitest";
import { type CpuEngine, openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { ROW_JOBS } from "../../../../src/engine/cpu/rows/row-threads.js";
import type { Tuning } from "../../../../src/engine/cpu/tuning.js";
import type { GroupCall } from "../../../../src/engine/row-groups.js";
import { LimitError } from "../../../../src/errors.js";
import type { Allocation } from "../../../../src/host/memory.js";
import { columnOf, modelOf, read } from "./columns.js";

const tuning = { rows: { chunk: 32, slice: 8, share: 8, sortAbove: 8 } };
const rows = 300;
const values = Array.from({ length: rows }, (_, row) => (row * 7) % 50);
const codes = columnOf("codes", values);
const keys = { rows, columns: [columnOf(2, values), codes] };

const opened: CpuEngine[] = [];
afterEach(() => {
  for (const engine of opened.splice(0)) engine.destroy();
});

/** An engine, a count of its allocations that were not given back, and a switch that makes the n-th from now fail. */
async function open(threads: number, sizes: Partial<Tuning> = tuning) {
  const engine = (await openCpuEngine({ threads, tuning: sizes })) as CpuEngine;
  opened.push(engine);
  await engine.host.warmUp([ROW_JOBS]);
  const made = new Set<Allocation>();
  let before = Number.POSITIVE_INFINITY;
  const allocate = engine.buffers.allocate.bind(engine.buffers);
  engine.buffers.allocate = (bytes, zeroed) => {
    if (before-- <= 0) throw new LimitError("memory", bytes, 0, "This is a test.");
    const allocation = allocate(bytes, zeroed);
    made.add(allocation);
    const release = allocation.release.bind(allocation);
    allocation.release = () => {
      made.delete(allocation);
      release();
    };
    return allocation;
  };
  const operations = await engine.rows();
  return {
    engine,
    group: (call: Partial<GroupCall> = {}) => operations.group(keys, { nullsEqual: false, ...call }),
    living: () => made.size,
    failAfter: (allocations: number) => {
      before = allocations;
    },
  };
}

describe.each([1, 2])("%i threads", (threads) => {
  it("the result is four columns, which destroy gives back", async () => {
    const { group, living } = await open(threads);
    const groups = await group();
    expect([groups.rows, groups.groups]).toEqual([rows, 50]);
    expect(living()).toBe(4);
    groups.destroy();
    expect(living()).toBe(0);
    groups.destroy();
    await expect(groups.members.read()).rejects.toMatchObject({ code: "VALIDATION" });
  });

  it("a signal that is aborted before stops it", async () => {
    const { group, living } = await open(threads);
    const reason = new Error("enough");
    await expect(group({ signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    expect(living()).toBe(0);
  });

  it("a signal stops it at any pause, and the next call works", async () => {
    const { group, living } = await open(threads);
    let pauses = 0;
    const whole = await group({ onProgress: () => pauses++ });
    whole.destroy();
    // the last report comes when all is done
    expect(pauses).toBeGreaterThan(4);
    for (let stopAt = 1; stopAt < pauses; stopAt++) {
      const abort = new AbortController();
      const reason = new Error(`enough after ${stopAt}`);
      let reports = 0;
      const call = group({
        signal: abort.signal,
        onProgress: () => {
          if (++reports === stopAt) abort.abort(reason);
        },
      });
      const outcome = await call.catch((error: unknown) => error);
      // pauses go by the clock: a run with fewer of them is done before
      if (!(outcome instanceof Error)) {
        expect(stopAt).toBeGreaterThan(1);
        (outcome as Awaited<typeof call>).destroy();
        break;
      }
      expect(outcome).toBe(reason);
      expect(living()).toBe(0);
    }
    expect(await read(await group())).toEqual(modelOf([values], rows, false));
  });

  it("a signal stops it where one table does", async () => {
    const { group, living } = await open(threads, {});
    const abort = new AbortController();
    const reason = new Error("enough");
    const call = group({ signal: abort.signal, onProgress: () => abort.abort(reason) });
    await expect(call).rejects.toBe(reason);
    expect(living()).toBe(0);
  });

  it("memory that runs out at any allocation is a LimitError, and the next call works", async () => {
    const { group, living, failAfter } = await open(threads);
    let failures = 0;
    for (; failures < 100; failures++) {
      failAfter(failures);
      const outcome = await group().then(
        (groups) => groups,
        (error: unknown) => error,
      );
      if (!(outcome instanceof Error)) {
        failAfter(Number.POSITIVE_INFINITY);
        expect(await read(outcome as Awaited<ReturnType<typeof group>>)).toEqual(
          modelOf([values], rows, false),
        );
        break;
      }
      expect(outcome).toBeInstanceOf(LimitError);
      expect(living()).toBe(0);
    }
    // at least the four columns of the result
    expect(failures).toBeGreaterThanOrEqual(4);
    expect(living()).toBe(0);
  });

  it("destroying the engine at the first or the last pause stops it", async () => {
    const counting = await open(threads);
    let pauses = 0;
    (await counting.group({ onProgress: () => pauses++ })).destroy();
    for (let stopAt of [1, pauses - 1]) {
      for (let stopped = false; !stopped; stopAt--) {
        expect(stopAt).toBeGreaterThan(0);
        const { engine, group } = await open(threads);
        let reports = 0;
        const call = group({
          onProgress: () => {
            if (++reports === stopAt) engine.destroy();
          },
        });
        const outcome = await call.catch((error: unknown) => error);
        // pauses go by the clock: a run with fewer of them is done before
        stopped = outcome instanceof Error;
        if (stopped) expect(outcome).toMatchObject({ code: "DEVICE_LOST", reason: "destroyed" });
      }
    }
  });

  it("progress grows up to all rows", async () => {
    const { group } = await open(threads);
    const reports: [number, number][] = [];
    (await group({ onProgress: (done, total) => reports.push([done, total]) })).destroy();
    const done = reports.map(([each]) => each);
    expect(done).toEqual([...done].sort((a, b) => a - b));
    expect(reports.every(([, total]) => total === rows)).toBe(true);
    expect(reports.at(-1)).toEqual([rows, rows]);
  });
});
