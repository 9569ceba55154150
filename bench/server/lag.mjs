// node bench/server/lag.mjs: how long a server's event loop is held up, and how long its answers take, while every request groups or joins
// rows on the cpu engine. Reads dist. Clients run in a thread of their own, and keep `--connections` requests under way.
//
//   --work group|join  --rows 100000  --connections 50  --seconds 5  --threads N  --concurrency N  --json FILE
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { Agent, createServer, get } from "node:http";
import { cpus } from "node:os";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";

if (isMainThread) await serve();
else await ask(workerData);

async function serve() {
  const { values } = parseArgs({
    options: {
      work: { type: "string", default: "group" },
      rows: { type: "string", default: "100000" },
      connections: { type: "string", default: "50" },
      seconds: { type: "string", default: "5" },
      threads: { type: "string" },
      concurrency: { type: "string" },
      json: { type: "string" },
    },
  });
  const { openDevice } = await import("../../dist/index.js");
  const { count, groupBy, join, sum } = await import("../../dist/relational/index.js");
  const [rows, connections, seconds] = [values.rows, values.connections, values.seconds].map(Number);
  const device = await openDevice({
    backend: "cpu",
    ...(values.threads && { threads: Number(values.threads) }),
    ...(values.concurrency && { concurrency: Number(values.concurrency) }),
  });
  const city = (i) => `city ${Math.imul(i, 2654435761) >>> 22}`; // 1,024 of them
  const visits = {
    city: Array.from({ length: rows }, (_, i) => city(i)),
    user: Uint32Array.from({ length: rows }, (_, i) => Math.imul(i, 2246822519) >>> 8),
    seconds: Float64Array.from({ length: rows }, (_, i) => i % 600),
  };
  const users = {
    user: visits.user.slice(0, rows / 2),
    plan: visits.user.slice(0, rows / 2).map((u) => u % 3),
  };
  // as Arrow tables, which requests share
  const { tableFromArrays } = await import("@uwdata/flechette");
  const tables = { visits: tableFromArrays(visits), users: tableFromArrays(users) };
  const aggregate = { visits: count(), seconds: sum("seconds") };
  const work = {
    group: async () => (await groupBy(tables.visits, { by: ["city"], aggregate, device })).numRows,
    join: async () => (await join(tables.visits, tables.users, { on: ["user"], device })).numRows,
  }[values.work];
  const answer = String(await work());
  const server = createServer((_, response) => {
    work().then(
      (made) => response.end(String(made)),
      (error) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const client = new Worker(new URL(import.meta.url), {
    workerData: { port: server.address().port, connections, seconds, answer },
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
  server.close();
  device.destroy();
  const ms = (ns) => Math.round(ns / 1e5) / 10;
  const at = (part) =>
    Math.round(latencies[Math.min(latencies.length - 1, Math.floor(part * latencies.length))]);
  const report = {
    work: values.work,
    rows,
    connections,
    threads: device.info.threads,
    concurrency: device.concurrency,
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
