/** Jobs on worker threads: results in order, errors that stay what they are, aborts, ends, and how much is held meanwhile. */
import { availableParallelism } from "node:os";
import { describe, expect, it, vi } from "vitest";
import { collectGarbage } from "../../bench/garbage.js";
import { CapacityError, EngineError, LimitError, ValidationError, WarpmapError } from "../../src/errors.js";
import { inOrder, type Job, threadsOf } from "../../src/host/in-order.js";
import { HostPool, type TaskKind } from "../../src/host/pool.js";
import { Lease } from "../../src/host/workers.js";
import { FileError } from "../../src/io/errors.js";
import { isLong } from "../helpers/rounds.js";
import type { Asked } from "./test-worker.js";
import testWorker from "./test-worker.ts?worker-source";

type TestKind = TaskKind<Asked, Int32Array>;
const newKind = (script = testWorker): TestKind => ({
  name: "test",
  script: async () => ({ default: script }),
  errors: { FILE: FileError },
});
/** The calls of a test share a pool, as those of a device do. */
const newPool = (script?: string) => ({ pool: new HostPool({ threads: 3 }), kind: newKind(script) });
const unloaded = (script: TestKind["script"]) => ({ ...newPool(), kind: { ...newKind(), script } });
const usual = newPool();

type TestJob = Job<Asked, Int32Array>;
/** Time for a worker to start. */
const later = () => new Promise<void>((resolve) => setTimeout(resolve, 1));

function jobOf(kind: Asked["kind"], value: number, told: { packed: number } = { packed: 0 }): TestJob {
  const values = Int32Array.of(value);
  return {
    async here() {
      await later();
      return Int32Array.of(2 * value);
    },
    pack() {
      told.packed++;
      return { input: { kind, values }, transfer: [values.buffer as ArrayBuffer] };
    },
  };
}

/** Jobs that go on until a worker has had `wanted` of them. */
function* untilPacked(wanted: number): Generator<TestJob> {
  const told = { packed: 0 };
  for (let i = 0; told.packed < wanted; i++) yield jobOf("double", i, told);
}

async function collected(jobs: Iterable<TestJob>, threads: number, from = usual): Promise<number[]> {
  const values: number[] = [];
  for await (const [value] of inOrder(from.kind, jobs, { threads, pool: from.pool })) values.push(value);
  return values;
}

/** The error of a job that a worker does, whatever came before. */
async function failureOf(kind: Asked["kind"]): Promise<unknown> {
  function* jobs(): Generator<TestJob> {
    yield* untilPacked(1);
    for (;;) yield { ...jobOf(kind, 0), here: jobOf("double", 0).here };
  }
  return collected(jobs(), 2).then(
    () => undefined,
    (error: unknown) => error,
  );
}

describe("results", () => {
  it.each([1, 2, 3])("come in the order of the jobs, with %i threads", async (threads) => {
    const jobs = threads === 1 ? Array.from({ length: 50 }, (_, i) => jobOf("double", i)) : untilPacked(50);
    const values = await collected(jobs, threads);
    expect(values.length).toBeGreaterThanOrEqual(50);
    expect(values).toEqual(values.map((_, i) => 2 * i));
  });

  it("come one by one where there is one thread, and no worker is asked for", async () => {
    const script = async (): Promise<never> => {
      throw new Error("nobody needs a worker");
    };
    const jobs = [1, 2, 3].map((value) => jobOf("exit", value));
    expect(await collected(jobs, 1, unloaded(script))).toEqual([2, 4, 6]);
  });

  it("are the calling thread's where workers cannot start", async () => {
    const refused = newPool('throw new Error("not allowed here")');
    expect(
      await collected(
        [1, 2, 3].map((value) => jobOf("exit", value)),
        3,
        refused,
      ),
    ).toEqual([2, 4, 6]);
    // and stay so
    expect(
      await collected(
        [1, 2, 3].map((value) => jobOf("exit", value)),
        3,
        refused,
      ),
    ).toEqual([2, 4, 6]);
  });

  it("are the calling thread's where the script cannot be loaded", async () => {
    const script = async (): Promise<never> => {
      throw new Error("offline");
    };
    expect(
      await collected(
        [1, 2, 3].map((value) => jobOf("exit", value)),
        3,
        unloaded(script),
      ),
    ).toEqual([2, 4, 6]);
  });
});

describe("what is held", () => {
  it.each([2, 3])("is no more than the window, with %i threads", async (threads) => {
    let taken = 0;
    let given = 0;
    let most = 0;
    function* counted(): Generator<TestJob> {
      for (const job of untilPacked(40)) {
        taken++;
        most = Math.max(most, taken - given);
        yield job;
      }
    }
    for await (const _ of inOrder(usual.kind, counted(), { pool: usual.pool, threads })) given++;
    expect(taken).toBe(given);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(4 * threads);
  });

  it.each([undefined, 1, 4])("is no more than the depth at a worker: %s", async (depth) => {
    const { work } = Lease.prototype;
    let tasks = 0;
    let most = 0;
    const spied = vi.spyOn(Lease.prototype, "work").mockImplementation(async function (
      this: Lease,
      ...task: Parameters<typeof work>
    ) {
      most = Math.max(most, ++tasks);
      return work.apply(this, task).finally(() => tasks--);
    } as typeof work);
    const options = { pool: usual.pool, threads: 2, window: 8, depth };
    let [given, inOrderSoFar] = [0, true];
    try {
      for await (const [value] of inOrder(usual.kind, untilPacked(40), options))
        inOrderSoFar &&= value === 2 * given++;
    } finally {
      spied.mockRestore();
    }
    expect(inOrderSoFar).toBe(true);
    expect(most).toBe(depth ?? 2);
  });
});

describe("an error of a worker's job", () => {
  it("of a file keeps its class, fields and cause", async () => {
    const error = (await failureOf("file")) as FileError;
    expect(error).toBeInstanceOf(FileError);
    expect(error).toBeInstanceOf(WarpmapError);
    const { name, code, path, problem, fix, message } = error;
    expect({ name, code, path, problem, fix, message }).toEqual({
      name: "FileError",
      code: "FILE",
      path: "a.csv",
      problem: "a.csv: line 3: is torn.",
      fix: "Mend it.",
      message: "a.csv: line 3: is torn. Mend it.",
    });
    expect(error.cause).toBeInstanceOf(RangeError);
    expect((error.cause as Error).message).toBe("3 > 2");
    expect(Object.prototype.toString.call(error)).toBe("[object Error]");
    expect(Object.keys(error)).not.toContain("cause");
  });

  it("of warpmap keeps its numbers", async () => {
    const limit = await failureOf("limit");
    expect(limit).toBeInstanceOf(LimitError);
    expect(limit).toMatchObject({ name: "LimitError", code: "LIMIT", limit: "rows", need: 7, have: 5 });
    const capacity = await failureOf("capacity");
    expect(capacity).toBeInstanceOf(CapacityError);
    expect(capacity).toMatchObject({ inserted: 1, rejected: 2, capacity: 3, fix: expect.any(String) });
    expect(await failureOf("validation")).toBeInstanceOf(ValidationError);
  });

  it("of another kind keeps its message and fields", async () => {
    expect(await failureOf("type")).toBeInstanceOf(TypeError);
    expect(await failureOf("range")).toBeInstanceOf(RangeError);
    expect(await failureOf("plain")).toMatchObject({ message: "torn", at: 17 });
    expect(await failureOf("text")).toBe("just text");
  });

  it("comes after the results before it, as one of the jobs themselves does", async () => {
    function* jobs(): Generator<TestJob> {
      yield* untilPacked(10);
      throw new ValidationError("No more.", "Stop.");
    }
    const values: number[] = [];
    const reading = async () => {
      for await (const [value] of inOrder(usual.kind, jobs(), { pool: usual.pool, threads: 3 }))
        values.push(value);
    };
    await expect(reading()).rejects.toThrow("No more.");
    expect(values).toEqual(values.map((_, i) => 2 * i));
    expect(values.length).toBeGreaterThanOrEqual(10);
  });

  it("is that of the engine where the worker died", async () => {
    const error = await failureOf("exit");
    expect(error).toBeInstanceOf(EngineError);
    expect((error as Error).message).toContain("exit code 3");
    // others start for the next call
    expect((await collected(untilPacked(5), 2)).length).toBeGreaterThanOrEqual(5);
  });

  it("is told where what it needs cannot be posted", async () => {
    function* jobs(): Generator<TestJob> {
      yield* untilPacked(1);
      for (;;) {
        const job = jobOf("double", 0);
        yield { here: job.here, pack: () => ({ input: (() => {}) as never, transfer: [] }) };
      }
    }
    await expect(collected(jobs(), 2)).rejects.toThrow("could not be cloned");
  });
});

describe("who stops", () => {
  it("by a signal is told its reason while a worker goes on without end", async () => {
    const abort = new AbortController();
    const reason = new Error("enough");
    const told = { packed: 0 };
    let ended = false;
    async function* jobs(): AsyncGenerator<TestJob> {
      try {
        yield* untilPacked(1);
        while (told.packed === 0) yield { ...jobOf("spin", 0, told), here: jobOf("double", 0).here };
        setTimeout(() => abort.abort(reason), 5);
      } finally {
        ended = true;
      }
    }
    const reading = async () => {
      for await (const _ of inOrder(usual.kind, jobs(), {
        pool: usual.pool,
        threads: 2,
        signal: abort.signal,
      }));
    };
    await expect(reading()).rejects.toBe(reason);
    expect(ended).toBe(true);
    expect((await collected(untilPacked(5), 2)).length).toBeGreaterThanOrEqual(5);
  });

  it("before the first job gets no result", async () => {
    const signal = AbortSignal.abort(new Error("never mind"));
    for (const threads of [1, 2]) {
      const results = inOrder(usual.kind, [jobOf("double", 1)], { pool: usual.pool, threads, signal });
      await expect(results.next()).rejects.toThrow("never mind");
    }
  });

  it("early ends the jobs, and what makes them", async () => {
    const doubles = { packed: 0 };
    const spins = { packed: 0 };
    let ended = false;
    function* jobs(): Generator<TestJob> {
      try {
        // its result can be given while the worker is at the next one
        while (doubles.packed === 0) yield jobOf("double", 0, doubles);
        for (;;) yield { ...jobOf("spin", 0, spins), here: jobOf("double", 0).here };
      } finally {
        ended = true;
      }
    }
    const results = inOrder(usual.kind, jobs(), { pool: usual.pool, threads: 2 });
    while (spins.packed === 0) await results.next();
    await results.return();
    expect(ended).toBe(true);
    expect((await collected(untilPacked(5), 2)).length).toBeGreaterThanOrEqual(5);
  });
});

describe("calls at the same time", () => {
  it("do not get each other's results", async () => {
    const jobs = () => Array.from({ length: 20 }, (_, i) => jobOf("double", i));
    const calls = [2, 3, 2].map((threads) => collected(jobs(), threads));
    for (const values of await Promise.all(calls)) expect(values).toEqual(values.map((_, i) => 2 * i));
  });
});

describe("the number of threads", () => {
  it("is what the options say, else the machine's up to 8", () => {
    expect(threadsOf({ threads: 3 })).toBe(3);
    expect(threadsOf({})).toBe(Math.min(8, availableParallelism()));
  });
});

it("holds on to no job and no result that was given", async () => {
  const jobs: WeakRef<TestJob>[] = [];
  const results: WeakRef<Int32Array>[] = [];
  const made = (function* () {
    for (let i = 0; i < 60; i++) {
      const job = jobOf("double", i);
      jobs.push(new WeakRef(job));
      yield job;
    }
  })();
  let [mostJobs, mostResults] = [0, 0];
  const alive = (all: readonly WeakRef<object>[]) => all.filter((each) => each.deref() !== undefined).length;
  const signal = new AbortController().signal;
  for await (const result of inOrder(usual.kind, made, { threads: 2, pool: usual.pool, window: 4, signal })) {
    results.push(new WeakRef(result));
    if (results.length % (isLong() ? 3 : 12) > 0) continue;
    await later(); // what was looked at stays until the end of the task
    await collectGarbage();
    mostJobs = Math.max(mostJobs, alive(jobs));
    mostResults = Math.max(mostResults, alive(results));
  }
  expect(results.length).toBe(60);
  expect(mostJobs).toBeLessThan(20);
  expect(mostResults).toBeLessThan(20);
});

it("starts workers with all kinds of tasks that were asked for, however late the text of one comes", async () => {
  const { pool, kind } = newPool();
  const late = async () => {
    await later();
    return { default: "" };
  };
  const warm = pool.warmUp([kind, { name: "late", script: late }], 1);
  const lease = (await pool.workers())?.lend(kind, 1) as Lease;
  const worker = await vi.waitFor(() => lease.free(1) ?? Promise.reject(new Error("not up yet")));
  expect([...worker.kinds].sort()).toEqual(["late", "test"]);
  await warm;
  lease.end();
  pool.destroy();
});

it("has a worker let go of what a task brought", async () => {
  const { pool, kind } = newPool();
  const lease = (await pool.workers())?.lend(kind, 1) as Lease;
  const worker = await vi.waitFor(() => lease.free(1) ?? Promise.reject(new Error("not up yet")));
  const held = async () =>
    (await lease.work(worker, kind, { kind: "held", values: new Int32Array(0) }, []))[0];
  const before = await held();
  const values = new Int32Array(2 ** 25);
  await lease.work(worker, kind, { kind: "held", values }, [values.buffer]);
  await vi.waitFor(async () => expect(await held()).toBeLessThan(before + 16));
  lease.end();
  pool.destroy();
});
