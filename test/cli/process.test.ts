/** What only a process of its own shows: statuses, signals, closed pipes, and that it ends by itself. */
import { execFileSync } from "node:child_process";
import {
  closeSync,
  existsSync,
  linkSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { describe, expect, it } from "vitest";
import { covering } from "../helpers/rounds.js";
import { temporaryFolder } from "../io/temporary.js";
import { outcomeOf, start } from "./run-cli.js";

const path = temporaryFolder();
writeFileSync(
  path("a.csv"),
  `id,text\n${Array.from({ length: 300_000 }, (_, i) => `${i},text ${i}\n`).join("")}`,
);
const JOIN = ["join", path("a.csv"), path("a.csv"), "--on", "id=id"];
/** Vulkan loaders of both generations are told of a driver that is not there. */
const NO_GPU = { ...process.env, VK_ICD_FILENAMES: "/nowhere.json", VK_DRIVER_FILES: "/nowhere.json" };

it("joins, prints JSON, and ends by itself", async () => {
  const { status, stdout } = await outcomeOf(start([...JOIN, "--device", "cpu", "--json"]));
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 300_000, device: "cpu" });
});

it("ends with 2 for a wrong call and with 1 for a missing file", async () => {
  expect((await outcomeOf(start(["nonsense"]))).status).toBe(2);
  const { status, stdout, stderr } = await outcomeOf(
    start(["join", "no.csv", "no.csv", "--on", "a=a", "--device", "cpu"]),
  );
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^warpmap: no\.csv: no such file or directory\.\nhint: .+\n$/);
});

// elsewhere than on Linux a GPU needs no Vulkan driver
it.runIf(process.platform === "linux")(
  "takes the CPU where there is no GPU, and fails where a GPU was asked for by name",
  async () => {
    const auto = await outcomeOf(start([...JOIN, "--json"], NO_GPU));
    expect(JSON.parse(auto.stdout).device).toBe("cpu");
    const named = await outcomeOf(start([...JOIN, "--device", "webgpu"], NO_GPU));
    expect([named.status, named.stdout]).toEqual([1, ""]);
    expect(named.stderr).toMatch(/^warpmap: Backend "webgpu" is not available .*\nhint: .+$/m);
  },
);

it("ends in silence when its reader goes away", async () => {
  const child = start(["--help"]);
  child.stdout?.destroy();
  const { status, stderr } = await outcomeOf(child);
  expect([status, stderr]).toEqual([0, ""]);
});

it("ends with 130 when interrupted", async () => {
  const args = ["join", "-", path("a.csv"), "--on", "id=id", "--format", "csv", "--device", "cpu"];
  const child = start(args, process.env, "pipe", "pipe");
  let fed = 0;
  const endless = function* () {
    yield "id\n";
    for (;;) {
      if (++fed === 100) child.kill("SIGINT"); // in the midst of reading
      yield "1234567\n".repeat(10_000);
    }
  };
  pipeline(Readable.from(endless()), child.stdin as Writable).catch(() => {}); // the pipe closes with the process
  const { status, stdout, stderr } = await outcomeOf(child);
  expect([status, stdout, stderr]).toEqual([130, "", "warpmap: interrupted\n"]);
});

it("loads no engine, reader or operator before a command asks for it", () => {
  const loaded = new Set<string>();
  const load = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    // static imports of values; what commands import() is loaded when they run
    const imports = readFileSync(path, "utf8").matchAll(
      /^(?:import|export) (?!type)[^;]*?from "(\.[^"]+)"/gm,
    );
    for (const [, target] of imports) load(resolve(dirname(path), target.replace(/\.js$/, ".ts")));
  };
  const source = resolve(import.meta.dirname, "../../src");
  load(resolve(source, "cli/main.ts"));
  const names = [...loaded].map((path) => relative(source, path));
  expect(names).toContain("cli/program.ts");
  expect(
    names.filter((name) => /^(engine\/(?!registry)|relational\/|io\/(?!errors|formats|visible))/.test(name)),
  ).toEqual([]);
});

it("starts no more threads than --threads says, and none within a limit of memory unless told", async () => {
  writeFileSync(path("long.csv"), `id,w\n${`7,${"x".repeat(100)}\n`.repeat(100_000)}`); // large enough for threads
  const counting = `
    import { createRequire } from "node:module";
    const threads = createRequire("/")("node:worker_threads");
    let started = 0;
    threads.Worker = class extends threads.Worker {
      constructor(...args) {
        super(...args);
        started++;
      }
    };
    process.on("exit", () => console.error("threads started: " + started));`;
  const NODE_OPTIONS = `--import=data:text/javascript,${encodeURIComponent(counting)}`;
  const startedBy = async (...options: string[]) => {
    const args = ["distinct", path("long.csv"), "--on", "w", "--json", "--device", "cpu", ...options];
    const { stdout, stderr } = await outcomeOf(start(args, { ...process.env, NODE_OPTIONS }));
    expect(JSON.parse(stdout).rows).toBe(1);
    return Number(/^threads started: (\d+)$/m.exec(stderr)?.[1]);
  };
  expect(await startedBy("--threads", "1")).toBe(0);
  expect(await startedBy("--memory", "64M")).toBe(0);
  expect(await startedBy("--threads", "2")).toBeGreaterThan(0);
  // of the reader, and of the engine's two pools
  expect(await startedBy("--threads", "999")).toBeLessThan(3 * Math.max(16, 4 * availableParallelism()));
  expect(await startedBy("--threads", "2", "--memory", "64M")).toBeGreaterThan(0);
});

it("keeps its status when nobody reads the errors", async () => {
  const child = start(["join", "no.csv", "no.csv", "--on", "a", "--device", "cpu"]);
  child.stderr?.destroy();
  expect((await outcomeOf(child)).status).toBe(1);
});

// elsewhere than on Linux there is no /dev/full, and no mkfifo to rely on
describe.runIf(process.platform === "linux")("on Linux", () => {
  it("says that standard output is full", async () => {
    const full = openSync("/dev/full", "w");
    const { status, stderr } = await outcomeOf(
      start([...JOIN, "--json", "--device", "cpu"], process.env, full),
    );
    closeSync(full);
    expect(status).toBe(1);
    expect(stderr).toMatch(/^warpmap: standard output cannot be written \(.*ENOSPC.*\)\.\nhint: .+\n$/);
  });

  it.each([
    ["SIGINT", 130, 1],
    ["SIGTERM", 143, 2],
  ] as const)("ends by %s while it waits for a pipe that nobody writes to", async (signal, status, times) => {
    const pipe = path(`${signal}.csv`);
    execFileSync("mkfifo", [pipe]);
    const child = start(["join", pipe, path("a.csv"), "--on", "id", "--device", "cpu"]);
    const outcome = outcomeOf(child);
    await new Promise((go) => setTimeout(go, 1500)); // until it opens the pipe
    const asked = performance.now();
    for (let time = 0; time < times; time++) {
      child.kill(signal);
      await new Promise((go) => setTimeout(go, 100));
    }
    const left = setTimeout(() => child.kill("SIGKILL"), 10_000);
    expect((await outcome).status).toBe(status);
    clearTimeout(left);
    expect(performance.now() - asked).toBeLessThan(10_000);
  });

  it("writes to a pipe and leaves it one", async () => {
    execFileSync("mkfifo", [path("pipe.csv")]);
    const reading = readFile(path("pipe.csv"), "utf8");
    const small = path("small.csv");
    writeFileSync(small, "id\n1\n");
    const { status } = await outcomeOf(
      start(["join", small, small, "--on", "id", "--device", "cpu", "--out", path("pipe.csv")]),
    );
    expect([status, await reading]).toEqual([0, "id\n1\n"]);
    expect(statSync(path("pipe.csv")).isFIFO()).toBe(true);
    expect(readdirSync(path(".")).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

it("refuses to write over a hard link of an input", async () => {
  linkSync(path("a.csv"), path("linked.csv"));
  const { status, stderr } = await outcomeOf(start([...JOIN, "--out", path("linked.csv")]));
  expect(status).toBe(2);
  expect(stderr).toMatch(/linked\.csv is one of the files to join/);
});

const endings = [
  ["SIGTERM", 143, "csv"],
  ["SIGHUP", 129, "parquet"],
  ["SIGINT", 130, "arrow"],
] as const;
it.each(covering(endings, ([signal]) => signal !== "SIGHUP"))(
  "leaves nothing behind when %s comes while it writes",
  async (signal, status, format) => {
    if (!existsSync(path("tall.csv"))) {
      const rows = Array.from({ length: 500_000 }, (_, i) => `${i},${"y".repeat(40)}\n`).join("");
      writeFileSync(path("tall.csv"), `id,w\n${rows}`);
    }
    const out = path(`out-${format}.${format}`);
    const child = start([
      "join",
      path("tall.csv"),
      path("tall.csv"),
      "--on",
      "id",
      "--device",
      "cpu",
      "--out",
      out,
    ]);
    const temporary = () => readdirSync(path(".")).filter((name) => name.startsWith(".warpmap-"));
    const outcome = outcomeOf(child);
    while (temporary().length === 0 && child.exitCode === null) await new Promise((go) => setTimeout(go, 1));
    child.kill(signal);
    expect((await outcome).status).toBe(status);
    expect(temporary()).toEqual([]);
    expect(existsSync(out)).toBe(false);
  },
);
