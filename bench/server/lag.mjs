// node bench/server/lag.mjs: how long the event loop of a Fastify server is held up, and how long its answers take, while every request
// groups or joins rows on the cpu engine. Reads dist. Clients run in a thread of their own, and keep `--connections` requests under way.
// With `--worker` the device is in a worker thread (docs/recipes/server.md).
//
//   --work group|join  --rows 100000  --connections 50  --seconds 5  --threads N  --concurrency N  --worker  --json FILE
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Agent, get } from "node:http";
import { cpus } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { fastify } from "fastify";

if (isMainThread) await serve();
else if (workerData.port) await ask(workerData);
else await answerMessages(workerData);

/** What a request asks for, and the device that does it. */
async function openWork(options) {
  const { openDevice } = await import("../../dist/index.js");
  const { count, groupBy, join, sum } = await import("../../dist/relational/index.js");
  const { tableFromArrays } = await import("@uwdata/flechette");
  const { rows, threads, concurrency } = options;
  const device = await openDevice({ backend: "cpu", threads, concurrency });
  const city = (i) => `city ${Math.imul(i, 2654435761) >>> 22}`; // 1,024 of them
  const user = Uint32Array.from({ length: rows }, (_, i) => Math.imul(i, 2246822519) >>> 8);
  // Arrow tables, which requests share
  const visits = tableFromArrays({
    city: Array.from({ length: rows }, (_, i) => city(i)),
    user,
    seconds: Float64Array.from({ length: rows }, (_, i) => i % 600),
  });
  const some = user.slice(0, rows / 2);
  const users = tableFromArrays({ user: some, plan: some.map((u) => u % 3) });
  const aggregate = { visits: count(), seconds: sum("seconds") };
  const work = {
    group: async () => (await groupBy(visits, { by: ["city"], aggregate, device })).numRows,
    join: async () => (await join(visits, users, { on: ["user"], device })).numRows,
  }[options.work];
  return { device, work };
}

/** The worker of `--worker`: an answer to each message. */
async function answerMessages(options) {
  const { device, work } = await openWork(options);
  parentPort.on("message", async (id) => parentPort.postMessage({ id, made: await work() }));
  parentPort.postMessage({ threads: device.info.threads, concurrency: device.concurrency });
}

/** The same as openWork, in a worker. */
async function openWorker(options) {
  const worker = new Worker(new URL(import.meta.url), { workerData: options });
  const info = await new Promise((resolve) => worker.once("message", resolve));
  const asked = new Map();
  let last = 0;
  worker.on("message", ({ id, made }) => {
    asked.get(id)(made);
    asked.delete(id);
  });
  const work = () =>
    new Promise((resolve) => {
      asked.set(++last, resolve);
      worker.postMessage(last);
    });
  return { device: { info, concurrency: info.concurrency, destroy: () => worker.terminate() }, work };
}

async function serve() {
  const { values } = parseArgs({
    options: {
      work: { type: "string", default: "group" },
      rows: { type: "string", default: "100000" },
      connections: { type: "string", default: "50" },
      seconds: { type: "string", default: "5" },
      threads: { type: "string" },
      concurrency: { type: "string" },
      worker: { type: "boolean", default: false },
      json: { type: "string" },
    },
  });
  const [rows, connections, seconds] = [values.rows, values.connections, values.seconds].map(Number);
  const numberOf = (text) => (text === undefined ? undefined : Number(text));
  const options = {
    work: values.work,
    rows,
    threads: numberOf(values.threads),
    concurrency: numberOf(values.concurrency),
  };
  const { device, work } = await (values.worker ? openWorker(options) : openWork(options));
  const answer = String(await work());
  const server = fastify();
  server.get("/", async () => String(await work()));
  const address = new URL(await server.listen({ port: 0, host: "127.0.0.1" }));
  const client = new Worker(new URL(import.meta.url), {
    workerData: { port: Number(address.port), connections, seconds, answer },
  });
  const lag = monitorEventLoopDelay({ resolution: 1 });
  let latencies;
  await new Promise((resolve, reject) => {
    client.on("error", reject);
    client.on("message", (message) => {
      if (message === "begin") {
        lag.reset();
        lag.enable();
      } else {
        lag.disable();
        latencies = message;
        resolve();
      }
    });
  });
  await server.close();
  const { info, concurrency } = device;
  device.destroy();
  const ms = (ns) => Math.round(ns / 1e5) / 10;
  const at = (part) =>
    Math.round(latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))]);
  const report = {
    work: values.work,
    rows,
    connections,
    threads: info.threads,
    concurrency,
    worker: values.worker,
    requestsPerSecond: Math.round((10 * latencies.length) / seconds) / 10,
    loopLagMs: { p50: ms(lag.percentile(50)), p99: ms(lag.percentile(99)), max: ms(lag.max) },
    answerMs: { first: Math.round(latencies.first ?? latencies[0]), p50: at(0.5), p99: at(0.99) },
    machine: `${cpus()[0].model}, ${cpus().length} cores`,
    node: process.version,
    commit: execFileSync("git", ["rev-parse", "--short", "HEAD"]).toString().trim(),
  };
  console.log(JSON.stringify(report));
  if (values.json) writeFileSync(values.json, `${JSON.stringify(report, null, 2)}\n`);
}

/** Keeps requests under way, and tells how long each took, the shortest first. */
async function ask({ port, connections, seconds, answer }) {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const once = () =>
    new Promise((resolve, reject) => {
      const start = performance.now();
      get({ port, host: "127.0.0.1", agent }, (response) => {
        let text = "";
        response.on("data", (part) => {
          text += part;
        });
        response.on("end", () =>
          text === answer ? resolve(performance.now() - start) : reject(new Error(text)),
        );
      }).on("error", reject);
    });
  await once();
  parentPort.postMessage("begin");
  const end = performance.now() + 1000 * seconds;
  const latencies = [];
  await Promise.all(
    Array.from({ length: connections }, async () => {
      while (performance.now() < end) latencies.push(await once());
    }),
  );
  agent.destroy();
  parentPort.postMessage(latencies.sort((a, b) => a - b));
}
