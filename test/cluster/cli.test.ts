/** `--workers`, `worker`, `--queue`, `cluster status` and `clean`, as processes. */
import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { clusterPackage } from "../../src/cli/cluster-package.js";
import { cli, outcomeOf, start } from "../cli/run-cli.js";
import { temporaryFolder } from "../io/temporary.js";
import { startRedis, type TestServer } from "./servers.js";

const path = temporaryFolder();
const rows = (count: number, text: (i: number) => string) => Array.from({ length: count }, (_, i) => text(i));
mkdirSync(path("flights"));
for (const year of [2024, 2025])
  writeFileSync(
    path(`flights/${year}.csv`),
    ["origin,delay", ...rows(1000, (i) => `${["SFO", "JFK", "LAX"][i % 3]},${i % 60}`), ""].join("\n"),
  );
writeFileSync(path("airports.csv"), "iata,city\nSFO,San Francisco\nJFK,New York\n");

const warpmap = (...args: string[]) => outcomeOf(start([...args, "--device", "cpu"]));

describe("on processes of this machine", () => {
  it("joins a folder of files, and prints the first rows", async () => {
    const call = ["join", path("flights"), path("airports.csv"), "--on", "origin=iata", "--workers", "2"];
    const { status, stdout, stderr } = await warpmap(...call, "--explain");
    expect([status, stdout.split("\n").slice(0, 4)]).toEqual([
      0,
      [
        "origin  delay  city",
        "utf8    int32  utf8",
        "──────  ─────  ─────────────",
        "SFO         0  San Francisco",
      ],
    ]);
    expect(stdout).toContain("1,334 rows × 3 columns; the first 10 are shown");
    expect(stderr).toMatch(/workers: [12] on cpu\njoin .* s {2}2 parts, 1,334 rows, /);
    expect(stderr).toContain("join: the slowest part took ");
  });

  it("groups files of a glob into a file, says so as JSON", async () => {
    const call = ["group", path("flights/*.csv"), "--by", "origin", "--agg", "n=count,sum:delay"];
    const out = path("groups.csv");
    const { status, stdout } = await warpmap(...call, "--workers", "2", "--out", out, "--json", "--explain");
    const answer = JSON.parse(stdout);
    expect([status, answer.rows, answer.columns, answer.device]).toEqual([
      0,
      3,
      ["origin", "n", "sum_delay"],
      "cpu",
    ]);
    expect(answer.plan.stages.map(({ stage }: { stage: string }) => stage)).toEqual([
      "sample",
      "group units",
      "group",
    ]);
    const { stdout: alone } = await cli(["distinct", out, "--on", "n", "--device", "cpu"]);
    expect(alone).toContain("668");
  });

  it("writes a folder of parts, which is an input again", async () => {
    const out = path("routes");
    const { stdout } = await warpmap(
      "distinct",
      path("flights"),
      "--on",
      "origin",
      "--workers",
      "2",
      "--out",
      out,
    );
    expect(stdout).toBe(`wrote 3 rows × 2 columns to ${out}\n`);
    expect(readdirSync(out).sort()).toEqual(["_SUCCESS", "_manifest.json", "part-00000.parquet"]);
    const again = await warpmap("distinct", out, "--on", "origin", "--workers", "1", "--json");
    expect(JSON.parse(again.stdout).rows).toBe(3);
  });

  it.each([
    [["--workers", "0"], /--workers 0 is no number from 1 to 256/],
    [["--workers", "2", "--limit", "3"], /--limit does not go with --workers/],
    [["--workers", "2", "--out", "-"], /no standard input and output/],
    [["--exchange", "/tmp"], /--exchange is for workers of a --queue/],
    [["--queue", "redis://localhost"], /--queue needs --exchange/],
    [
      ["--queue", "redis://localhost", "--exchange", "/tmp", "--workers", "2"],
      /--workers is for workers of this/,
    ],
  ])("refuses %j", async (options, message) => {
    const { status, stderr } = await cli(["distinct", path("flights"), "--on", "origin", ...options]);
    expect(stderr).toMatch(message);
    expect(status).toBe(2);
  });

  it("ends with 1 for files that are not there", async () => {
    const { status, stderr } = await warpmap("distinct", path("no*.csv"), "--on", "a", "--workers", "1");
    expect([status, stderr.split("\n")[0]]).toEqual([
      1,
      `warpmap: There are no files of the input: ${path("no*.csv")}.`,
    ]);
  });
});

describe("on workers of a queue", () => {
  let server: TestServer | null;
  const workers: ChildProcess[] = [];
  const worker = async (url: string, ...options: string[]) => {
    const child = start(["worker", "--queue", url, "--device", "cpu", "--threads", "1", ...options]);
    workers.push(child);
    await new Promise<void>((resolve, reject) => {
      let said = "";
      child.stderr?.on("data", (text) => {
        said += text;
        if (said.includes("ready\n")) resolve();
      });
      child.once("exit", () => reject(new Error(said)));
    });
    return child;
  };
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(async () => {
    for (const child of workers) child.kill("SIGKILL");
    await server?.stop();
  });

  it("names a server that is not there, without credentials", async () => {
    const call = ["distinct", path("flights"), "--on", "origin", "--exchange", path("x")];
    const { status, stderr } = await cli([...call, "--queue", "redis://me:secret@127.0.0.1:9"]);
    expect(status).toBe(1);
    expect(stderr).toMatch(/127\.0\.0\.1:9/);
    expect(stderr).not.toContain("secret");
  });

  it("joins, lists workers, cleans, and a worker drains at SIGTERM", async () => {
    if (server === null) {
      console.log("redis-server is not installed: work on a queue is not tested");
      return;
    }
    const { url } = server;
    mkdirSync(path("x"), { recursive: true });
    const first = await worker(url, "--data", path(""));
    await worker(url);
    const status = JSON.parse(
      (await outcomeOf(start(["cluster", "status", "--queue", url, "--json"]))).stdout,
    );
    expect(status.workers).toHaveLength(2);
    expect(status.workers[0]).toMatchObject({ engine: "cpu", threads: 1, running: [] });
    expect(status.jobs).toEqual({ waiting: 0, active: 0, completed: 0, failed: 0 });

    const place = ["--queue", url, "--exchange", `file://${path("x")}`];
    const out = path("joined.parquet");
    const call = [
      "join",
      path("flights"),
      path("airports.csv"),
      "--on",
      "origin=iata",
      ...place,
      "--out",
      out,
    ];
    const joined = await outcomeOf(start([...call, "--json"]));
    expect(joined.stderr).toBe("");
    expect(JSON.parse(joined.stdout)).toMatchObject({ rows: 1334, device: "cpu" });
    expect(readdirSync(path("x"))).toEqual([]);

    // what a dead coordinator left
    const old = Date.now() - 3_600_000;
    const run = `wm-${old.toString(36)}-00000000`;
    mkdirSync(path(`x/${run}/alive`), { recursive: true });
    writeFileSync(path(`x/${run}/alive/${old}`), "");
    const clean = await outcomeOf(start(["cluster", "clean", ...place, "--json"]));
    expect(JSON.parse(clean.stdout)).toEqual({ runs: [run] });
    expect(readdirSync(path("x"))).toEqual([]);

    const ended = outcomeOf(first);
    first.kill("SIGTERM");
    const { status: code, stderr } = await ended;
    expect(code).toBe(0);
    expect(stderr).toMatch(/stopping: ending the jobs that run/);
  });

  it("a worker with --data reads nothing outside of it", async () => {
    if (server === null) return;
    for (const child of workers.splice(0)) child.kill("SIGKILL");
    mkdirSync(path("inside"), { recursive: true });
    await worker(server.url, "--data", path("inside"));
    const place = ["--queue", server.url, "--exchange", path("inside/x"), "--out", path("inside/out")];
    const { status, stderr } = await outcomeOf(
      start(["distinct", path("airports.csv"), "--on", "iata", ...place]),
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/airports\.csv.*outside/s);
    expect(readdirSync(path("inside"))).toEqual(["x"]);
  });
});

it("says what to install where the package is not there", async () => {
  const program = `import("warpmap-cluster").catch(({ code, message }) => console.log(JSON.stringify({ code, message })))`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", program], { cwd: path("") });
  const { code, message } = JSON.parse((await outcomeOf(child)).stdout);
  const missing = () => Promise.reject(Object.assign(new Error(message), { code }));
  await expect(clusterPackage(missing)).rejects.toThrow("npm install warpmap-cluster");
  const broken = Object.assign(new Error("Cannot find package 'bullmq'"), { code });
  await expect(clusterPackage(() => Promise.reject(broken))).rejects.toBe(broken);
});
