/**
 * Tests of a queue by BullMQ, for one kind of server: worker processes are killed, stopped and outlived. A server that is
 * not installed is a test that says so.
 */
import { type ChildProcess, fork } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { Redis } from "ioredis";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { connect } from "../../packages/cluster/src/bullmq/connection.js";
import { PROTOCOL_FIELD } from "../../packages/cluster/src/bullmq/names.js";
import { type BullQueue, openBullQueue } from "../../packages/cluster/src/bullmq/open-queue.js";
import type { WorkerEvent } from "../../packages/cluster/src/bullmq/work.js";
import { ClusterError } from "../../packages/cluster/src/errors.js";
import type { JobResult } from "../../packages/cluster/src/jobs.js";
import type { TestServer } from "./servers.js";

const fixtures = join(import.meta.dirname, "fixtures");
const cache = resolve(import.meta.dirname, "../../node_modules/.cache/warpmap");

/** A result of fixtures/echo-processor.mjs. */
type Echo = JobResult & { readonly part: number; readonly attemptsMade: number };
interface TestWorker {
  readonly process: ChildProcess;
  /** The process id as results name it. */
  readonly id: string;
  readonly events: WorkerEvent[];
}

let runs = 0;
const nextRun = () => `run-${++runs}`;
const parts = (count: number, job: object = {}) =>
  Array.from({ length: count }, (_, part) => ({ part, ...job }));

const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 15_000, interval: 50 });
const hasStarted = (worker: TestWorker) =>
  until(() => expect(worker.events.map(({ type }) => type)).toContain("started"));

/** What a promise is rejected with: a ClusterError, without the credentials of these tests. */
export async function errorOf(promise: Promise<unknown>): Promise<ClusterError> {
  const error = await promise.then(
    () => null,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(ClusterError);
  expect(JSON.stringify([error.message, error.stack, error.cause ?? ""])).not.toMatch(/se-cret|mallory/);
  return error;
}

export function testQueue(kind: "redis" | "postgres", program: string, server: TestServer | null): void {
  describe(`a queue on ${kind}`, () => {
    if (server === null) {
      it(`is not tested: ${program} is not installed`, () => {
        console.warn(`Queues on ${kind} are not tested: ${program} is not installed.`);
        // where all servers are installed
        expect(process.platform === "linux" && process.env.CI).toBeFalsy();
      });
      return;
    }

    const { url } = server;
    let folder: string;
    /** work.ts with what it imports. */
    let bundle: string;
    const queues: BullQueue[] = [];
    const workers: TestWorker[] = [];

    beforeAll(async () => {
      mkdirSync(cache, { recursive: true });
      folder = mkdtempSync(join(cache, "bullmq-"));
      bundle = join(folder, "work.mjs");
      const entryPoints = [resolve(import.meta.dirname, "../../packages/cluster/src/bullmq/work.ts")];
      await build({
        entryPoints,
        outfile: bundle,
        bundle: true,
        format: "esm",
        platform: "node",
        packages: "external",
        // dist/ may be built meanwhile
        alias: { warpmap: resolve(import.meta.dirname, "../../src/errors.ts") },
      });
    });
    afterEach(async () => {
      for (const { process } of workers.splice(0)) process.kill("SIGKILL");
      for (const queue of queues.splice(0)) {
        for (const { run } of await queue.runs()) await queue.forget(run);
        await queue.close();
      }
    });
    afterAll(async () => {
      await server?.stop();
      rmSync(folder, { recursive: true });
    });

    async function open(): Promise<BullQueue> {
      const queue = await openBullQueue(url);
      queues.push(queue);
      return queue;
    }

    /** With a short lock, so that jobs of dead workers come back soon. */
    async function startWorker(options: object = {}): Promise<TestWorker> {
      const processor = join(fixtures, "echo-processor.mjs");
      const args = [bundle, url, JSON.stringify({ processor, lockDuration: 1000, ...options })];
      const child = fork(join(fixtures, "start-worker.mjs"), args, { execArgv: [] });
      const events: WorkerEvent[] = [];
      const worker = { process: child, id: String(child.pid), events };
      workers.push(worker);
      await new Promise<void>((ready, failed) => {
        child.on("message", (event: WorkerEvent | { type: "ready" }) =>
          event.type === "ready" ? ready() : events.push(event),
        );
        child.once("exit", () => failed(new Error("The worker ended.")));
      });
      return worker;
    }

    /** Of two workers and one job. */
    async function whoStarted() {
      const started = () => workers.find(({ events }) => events.some(({ type }) => type === "started"));
      await until(() => expect(started()).toBeDefined());
      const first = started() as TestWorker;
      return { first, second: workers.find((worker) => worker !== first) as TestWorker };
    }

    it("answers with the results of all parts in their order, and tells of each once", async () => {
      const queue = await open();
      const [one, two] = await Promise.all([startWorker(), startWorker({ concurrency: 2 })]);
      const told: number[] = [];
      const jobs = parts(40, { slices: 5000, ms: 5 });
      const results = await queue.run(
        { run: nextRun(), name: "partition left", jobs },
        { onResult: (part) => told.push(part) },
      );
      expect((results as Echo[]).map(({ part }) => part)).toEqual(jobs.map(({ part }) => part));
      expect(results.every(({ dealt }) => dealt?.offsets.length === 5000)).toBe(true);
      expect(told.toSorted((a, b) => a - b)).toEqual(jobs.map(({ part }) => part));
      expect(new Set(results.map(({ worker }) => worker))).toEqual(new Set([one.id, two.id]));
      expect(await queue.status()).toEqual({ waiting: 0, active: 0, completed: 40, failed: 0 });
      // no jobs, no wait for workers
      expect(await queue.run({ run: nextRun(), name: "join", jobs: [] }, {})).toEqual([]);
    });

    it("runs stages of several runs at once, and lists workers with what they do", async () => {
      const [queue, other] = [await open(), await open()];
      const worker = await startWorker({ concurrency: 2 });
      const [a, b] = [nextRun(), nextRun()];
      const stages = [
        queue.run({ run: a, name: "join", jobs: parts(1, { ms: 1500 }) }, {}),
        other.run({ run: b, name: "group", jobs: parts(1, { ms: 1500 }) }, {}),
      ];
      await until(async () => {
        const [info, ...others] = await queue.workers();
        expect(others).toEqual([]);
        expect(info).toMatchObject({ engine: "cpu", memory: 2 ** 30, threads: 1 });
        expect(info.worker).toMatch(new RegExp(` ${worker.id}$`));
        expect(info.running.toSorted()).toEqual(["group 0", "join 0"]);
      });
      // takes no more, and ends what it has
      worker.process.kill("SIGTERM");
      await Promise.all(stages);
      const all = ["started", "started", "finished", "finished"];
      await until(() => expect(worker.events.map(({ type }) => type)).toEqual(all));
      await until(async () => expect(await queue.workers()).toEqual([]));
      expect((await queue.runs()).map(({ run }) => run).toSorted()).toEqual([a, b].toSorted());
      expect((await queue.runs())[0].age).toBeLessThan(60);
    });

    it("tries failed jobs again, and those whose process died", async () => {
      const queue = await open();
      await startWorker();
      const retries: [number, string][] = [];
      const jobs = [{ part: 0 }, { part: 1, fails: 2, reason: "no luck" }, { part: 2, dies: true }];
      const call = { onRetry: (part: number, reason: string) => void retries.push([part, reason]) };
      const results = (await queue.run({ run: nextRun(), name: "join", jobs }, call)) as Echo[];
      expect(results.map(({ attemptsMade }) => attemptsMade)).toEqual([0, 2, 1]);
      expect(retries.filter(([part]) => part === 1)).toEqual([
        [1, "no luck"],
        [1, "no luck"],
      ]);
      expect(retries.filter(([part]) => part === 2)).toEqual([[2, expect.stringMatching(/SIGKILL/)]]);
    });

    it("a job that fails for good ends the stage, and no other begins", async () => {
      const queue = await open();
      await startWorker({ concurrency: 2 });
      const log = join(folder, `${kind}-failed.log`);
      const failure = JSON.stringify({
        problem: "Column x is not there.",
        fix: "Name another.",
        isFinal: true,
      });
      const jobs = [
        { part: 0, fails: 9, reason: failure, log },
        { part: 1, ms: 1000, log },
        ...parts(50, { ms: 1000, log }).slice(2),
      ];
      const error = await errorOf(queue.run({ run: nextRun(), name: "join", jobs }, {}));
      expect(error).toMatchObject({ reason: "JOB_FAILED", fix: "Name another." });
      expect(error.problem).toBe("The job join 0 failed: Column x is not there.");
      expect((await queue.status()).waiting).toBe(0);
      // that were under way
      await until(async () => expect((await queue.status()).active).toBe(0));
      const begun = new Set(readFileSync(log, "utf8").match(/begin \d+/g));
      expect(begun.size).toBeLessThan(5);
    });

    // as slow as BullMQ's back-off
    if (kind === "redis")
      it("a job that fails in four attempts has failed for good", async () => {
        const queue = await open();
        await startWorker();
        const reasons: string[] = [];
        const jobs = [{ part: 0, fails: 9 }];
        const running = queue.run(
          { run: nextRun(), name: "join", jobs },
          { onRetry: (_, reason) => reasons.push(reason) },
        );
        const { problem } = await errorOf(running);
        expect(reasons).toEqual([0, 1, 2].map((attempt) => `attempt ${attempt} failed`));
        expect(problem).toBe("The job join 0 failed after 4 tries: attempt 3 failed");
      });

    it("gives the job of a killed worker to another", async () => {
      const queue = await open();
      await Promise.all([startWorker(), startWorker()]);
      const told: number[] = [];
      const lost: string[] = [];
      const stage = { run: nextRun(), name: "join", jobs: parts(1, { ms: 1000 }) };
      const running = queue.run(stage, {
        onResult: (part) => told.push(part),
        onRetry: (_, reason) => lost.push(reason),
      });
      const { first, second } = await whoStarted();
      first.process.kill("SIGKILL");
      expect((await running).map(({ worker }) => worker)).toEqual([second.id]);
      expect(told).toEqual([0]);
      expect(lost).toEqual(["its worker was lost"]);
    });

    it("refuses the late result of a worker that was stopped", async () => {
      const queue = await open();
      await Promise.all([startWorker(), startWorker()]);
      const told: number[] = [];
      const stage = { run: nextRun(), name: "join", jobs: parts(1, { ms: 1000 }) };
      const running = queue.run(stage, { onResult: (part) => told.push(part) });
      const { first, second } = await whoStarted();
      first.process.kill("SIGSTOP");
      const [{ worker }] = await running;
      expect(worker).toBe(second.id);
      first.process.kill("SIGCONT");
      const refusal = /lock for job|Missing lock|not in the active state|Lock mismatch/;
      await until(() =>
        expect(first.events).toContainEqual({ type: "trouble", reason: expect.stringMatching(refusal) }),
      );
      expect(first.events.some(({ type }) => type === "finished")).toBe(false);
      expect(told).toEqual([0]);
      expect(await queue.status()).toMatchObject({ completed: 1, failed: 0 });
      // it works on
      second.process.kill("SIGKILL");
      const [next] = await queue.run({ run: nextRun(), name: "join", jobs: parts(1) }, {});
      expect(next.worker).toBe(first.id);
    });

    it("goes on after the server restarted", async () => {
      const queue = await open();
      await Promise.all([startWorker({ concurrency: 2 }), startWorker()]);
      const told: number[] = [];
      let reached: () => void = () => {};
      const underWay = new Promise<void>((resolve) => {
        reached = resolve;
      });
      const onResult = (part: number) => {
        told.push(part);
        if (told.length === 10) reached();
      };
      const running = queue.run({ run: nextRun(), name: "join", jobs: parts(40, { ms: 30 }) }, { onResult });
      await underWay;
      await server.kill();
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await server.start();
      const results = (await running) as Echo[];
      expect(results.map(({ part }) => part)).toEqual(parts(40).map(({ part }) => part));
      expect(told.toSorted((a, b) => a - b)).toEqual(parts(40).map(({ part }) => part));
    });

    it("an abort removes jobs, and tries none again", async () => {
      const queue = await open();
      const worker = await startWorker();
      const controller = new AbortController();
      const jobs = [{ part: 0, ms: 600, fails: 9 }, ...parts(20).slice(1)];
      const running = queue.run({ run: nextRun(), name: "join", jobs }, { signal: controller.signal });
      await hasStarted(worker);
      controller.abort(new Error("enough"));
      await expect(running).rejects.toThrow("enough");
      expect((await queue.status()).waiting).toBe(0);
      await until(() => expect(worker.events.map(({ type }) => type)).toEqual(["started", "failed"]));
      await until(async () => expect(await queue.status()).toMatchObject({ waiting: 0, active: 0 }));
      await expect(
        queue.run({ run: nextRun(), name: "join", jobs }, { signal: controller.signal }),
      ).rejects.toThrow("enough");
    });

    it("forgets runs, those that are under way as well", async () => {
      const queue = await open();
      const worker = await startWorker();
      const [done, left] = [nextRun(), nextRun()];
      await queue.run({ run: done, name: "partition left", jobs: parts(20) }, {});
      await queue.run({ run: done, name: "join", jobs: parts(5) }, {});
      worker.events.length = 0;
      const controller = new AbortController();
      const running = queue.run(
        { run: left, name: "join", jobs: parts(20, { ms: 700 }) },
        { signal: controller.signal },
      );
      await hasStarted(worker);
      controller.abort();
      await expect(running).rejects.toThrow();
      await queue.forget(done);
      expect((await queue.runs()).map(({ run }) => run)).toEqual([left]);
      await queue.forget(left);
      await queue.forget("no-such-run");
      expect(await queue.runs()).toEqual([]);
      expect(await queue.status()).toEqual({ waiting: 0, active: 0, completed: 0, failed: 0 });
      if (kind === "redis") {
        const client = new Redis(server.url);
        const keys = await client.keys("*");
        await client.quit();
        expect(keys.filter((key) => key.includes(done) || key.includes(left))).toEqual([]);
        expect(keys.length).toBeGreaterThan(0);
      }
    });

    it("a job that vanished ends the stage", async () => {
      const [queue, other] = [await open(), await open()];
      const run = nextRun();
      const running = errorOf(queue.run({ run, name: "join", jobs: parts(3) }, {}));
      await until(async () => expect((await other.status()).waiting).toBe(3));
      await other.forget(run);
      expect(await running).toMatchObject({ reason: "JOB_LOST" });
    });

    it("refuses a queue that another protocol uses, and takes over one that it has left", async () => {
      const queue = await open();
      const run = nextRun();
      const controller = new AbortController();
      const running = queue.run({ run, name: "join", jobs: parts(1) }, { signal: controller.signal });
      await until(async () => expect((await queue.status()).waiting).toBe(1));
      const other = await connect(server.url, () => {});
      await other.jobs.getBackend().setQueueMeta({ [PROTOCOL_FIELD]: "99" });
      await other.close();
      const error = await errorOf(openBullQueue(server.url));
      expect(error).toMatchObject({ reason: "QUEUE_PROTOCOL" });
      expect(error.problem).toContain("protocol 99");
      controller.abort();
      await expect(running).rejects.toThrow();
      await queue.forget(run);
      await open();
      await open();
    });

    it("has no credentials in its name and its messages", async () => {
      expect((await open()).name).toMatch(new RegExp(`^${kind}://127.0.0.1:${server.port}/`));
      if (kind === "redis") {
        const wrong = await errorOf(openBullQueue(`redis://mallory:se-cret-2@127.0.0.1:${server.port}`));
        expect(wrong).toMatchObject({ reason: "QUEUE_UNREACHABLE" });
        expect(wrong.problem).toContain("WRONGPASS");
      }
    });
  });
}
