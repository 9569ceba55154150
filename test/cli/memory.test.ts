// Commands within a limit of memory: the same rows as without, what they tell, and what is left of temporary files however they end.
import type { ChildProcess } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join as joinPaths } from "node:path";
import { Readable, type Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { setTimeout as after } from "node:timers/promises";
import { columnFromArray, tableFromArrays, tableFromColumns, tableToIPC, utf8 } from "@uwdata/flechette";
import { describe, expect, it, vi } from "vitest";
import { readTable, writeTable } from "../../src/io/index.js";
import { covering } from "../helpers/rounds.js";
import { openDuck } from "../io/duckdb.js";
import { temporaryFolder } from "../io/temporary.js";
import { cli, outcomeOf, start } from "./run-cli.js";

const path = temporaryFolder();
// few rows of long texts: more than the limit holds
const ROWS = 480;
const IDS = 401;
const table = (name: string, factor: number) => {
  const id = Int32Array.from({ length: ROWS }, (_, i) => (i * factor) % IDS);
  return tableFromArrays({
    id,
    group: Array.from(id, (i) => (i % 11 === 0 ? null : `group ${i}`.padEnd(1750, "."))),
    [name]: id.map((_, i) => i),
  });
};
await writeTable(path("l.parquet"), table("l", 7919));
await writeTable(path("r.csv"), table("r", 31));
const TMP = path("tmp");
mkdirSync(TMP);
const WITHIN = ["--memory", "1M", "--tmp", TMP, "--device", "cpu"];

const lines = (file: string) => readFileSync(file, "utf8").trimEnd().split("\n").sort();

// the command line knows no kinds: test/spill has all
it.each(covering(["inner", "full", "anti"], (how) => how === "full"))(
  "join of kind %s has the rows of DuckDB",
  async (how) => {
    const out = path(`${how}.csv`);
    const call = ["join", path("l.parquet"), path("r.csv"), "--on", "id,group", "--how", how];
    const { status, stdout, stderr } = await cli([...call, "--out", out, ...WITHIN, "--json"]);
    expect([status, stderr]).toEqual([0, ""]);
    const { rows, memory } = JSON.parse(stdout);
    expect(memory).toMatchObject({ limit: 2 ** 20, partitions: 32, depth: 0 });
    expect(memory.spilled).toBeGreaterThan(2 ** 20);
    expect(memory.peak).toBeGreaterThan(2 ** 24);
    const duck = await openDuck();
    const [l, r] = [`'${path("l.parquet")}'`, `read_csv('${path("r.csv")}')`];
    const columns = how === "full" ? `id, "group", l, r` : how === "anti" ? "l.*" : `l.*, r.r`;
    const condition = how === "full" ? `using (id, "group")` : `on l.id = r.id and l."group" = r."group"`;
    const theirs = await duck.rows(`select ${columns} from ${l} l ${how} join ${r} r ${condition}`);
    expect(rows).toBe(theirs.length);
    const [header, ...ours] = readFileSync(out, "utf8").trimEnd().split("\n");
    expect(header).toBe(how === "anti" ? "id,group,l" : "id,group,l,r");
    const texts = theirs.map((row) => row.map((value) => value ?? "").join()).sort();
    expect(ours.sort().findIndex((line, i) => line !== texts[i])).toBe(-1);
    expect(readdirSync(TMP)).toEqual([]);
  },
);

const formats = ["csv", "parquet", "arrow"];
it.each(covering(formats, (format) => format === "parquet"))(
  "group and distinct write %s as without a limit",
  async (format) => {
    const calls = [
      ["group", path("l.parquet"), "--by", "group", "--agg", "count,sum:l,median:l,first:id"],
      ["distinct", path("l.parquet"), "--on", "group", "--select", "l,group"],
    ];
    for (const call of calls) {
      const [within, without] = [path(`within.${format}`), path(`without.${format}`)];
      const { stdout, stderr } = await cli([...call, "--out", within, "--explain", ...WITHIN]);
      expect(stderr).toMatch(/MiB in 16 partitions/);
      await cli([...call, "--out", without, "--device", "cpu"]);
      expect(stdout).toMatch(/^wrote 365 rows × \d columns to /);
      const csv = async (file: string) => {
        await writeTable(path("read.csv"), await readTable(file));
        return lines(path("read.csv"));
      };
      expect(await csv(within)).toEqual(await csv(without));
    }
  },
);

it("prints the first rows, the row count and the memory", async () => {
  const call = [
    "join",
    path("l.parquet"),
    path("r.csv"),
    "--on",
    "id,group",
    "--select",
    "id,r,group",
    ...WITHIN,
  ];
  const all = await cli([...call, "--explain"]);
  expect(all.stdout).toMatch(/\n\d{3} rows × 3 columns; the first 10 are shown\n$/);
  expect(all.stderr).toMatch(
    /^memory: limit 1\.0 MiB, the process had \d+\.\d MiB at most; \d+\.\d MiB in 32 partitions/m,
  );
  expect(all.stderr).toMatch(/^ {2}of which hash join: \d/m);
  const few = await cli([...call, "--limit", "3"]);
  expect(few.stdout).toMatch(/\n3 rows × 3 columns\n$/);
  const none = await cli([...call.slice(0, 3), "--on", "id=r", "--limit", "0", ...WITHIN]);
  expect(none.stdout).toMatch(/\n0 rows × 5 columns\n$/);
  expect(readdirSync(TMP)).toEqual([]);
});

it("counts rows on a terminal while they are joined", async () => {
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 150)); // each call finds that it took long
  const call = ["join", path("l.parquet"), path("r.csv"), "--on", "id", ...WITHIN];
  const { stdout, stderr } = await cli(call, { progress: true }).finally(() => clock.mockRestore());
  const amounts = [...stderr.matchAll(/hash join … ([\d,]+) rows read, ([\d,]+) made/g)].map(([, ...each]) =>
    each.map((amount) => Number(amount.replaceAll(",", ""))),
  );
  const [read, made] = amounts.at(-1) as number[];
  expect(amounts[0][1]).toBe(0);
  expect(read).toBe((await readTable(path("l.parquet"))).numRows + (await readTable(path("r.csv"))).numRows);
  expect(stdout).toContain(`\n${made.toLocaleString("en")} rows × `);
});

it("keeps the process within the limit and what docs/larger-than-memory.md says comes on top", async () => {
  const rows = 3750;
  const side = function* (name: string, factor: number) {
    // 10 batches of some 4 MB
    for (let from = 0; from < 10 * rows; from += rows) {
      const id = Int32Array.from({ length: rows }, (_, i) => ((from + i) * factor) % 50_021);
      const text = Array.from(id, (i) => `${i}`.padEnd(1000, "-"));
      yield tableFromColumns({ id: columnFromArray(id), [name]: columnFromArray(text, utf8()) });
    }
  };
  await writeTable(path("wide l.arrow"), side("l", 7919));
  await writeTable(path("wide r.arrow"), side("r", 31));
  const call = [
    "join",
    path("wide l.arrow"),
    path("wide r.arrow"),
    "--on",
    "id",
    "--out",
    path("wide.arrow"),
  ];
  const within = ["--memory", "24M", "--tmp", TMP, "--device", "cpu", "--json"];
  const { status, stdout, stderr } = await outcomeOf(start([...call, ...within]));
  expect([status, stderr]).toEqual([0, ""]);
  const { peak, spilled } = JSON.parse(stdout).memory;
  expect(spilled).toBeGreaterThan(2 ** 26);
  expect(peak).toBeLessThan((24 + 192) * 2 ** 20);
});

it("takes csv from standard input, by way of a temporary file", async () => {
  const stdin = readFileSync(path("r.csv"));
  const call = ["group", "-", "--format", "csv", "--by", "id", "--json", ...WITHIN];
  const { stdout } = await cli(call, { stdin });
  expect(JSON.parse(stdout).rows).toBe(IDS);
  expect(readdirSync(TMP)).toEqual([]);
  const wrong = await cli(["join", "-", path("l.parquet"), "--on", "id=idd", "--format", "csv", ...WITHIN], {
    stdin,
  });
  expect([wrong.status, readdirSync(TMP)]).toEqual([1, []]);
});

it("refuses amounts that are none, and a folder without an amount", async () => {
  const call = ["group", path("r.csv"), "--by", "group"];
  for (const amount of ["much", "3", "1Q", "-1M", "99999T"]) {
    const { status, stderr } = await cli([...call, `--memory=${amount}`]);
    expect([status, stderr]).toEqual([
      2,
      expect.stringMatching(/^warpmap: --memory .* is not an amount of memory/),
    ]);
  }
  const { status, stderr } = await cli([...call, "--tmp", TMP]);
  expect([status, stderr]).toEqual([2, expect.stringMatching(/^warpmap: --tmp .*\nhint: Add --memory 512M/)]);
  const missing = await cli([...call, "--memory", "1M", "--tmp", path("not there"), "--device", "cpu"]);
  expect([missing.status, missing.stderr]).toEqual([
    1,
    expect.stringMatching(/not there: no such file or directory/),
  ]);
  const other = await cli([...call.slice(0, 2), "--by", "idd", ...WITHIN]);
  expect([other.status, other.stderr]).toEqual([1, expect.stringMatching(/Did you mean "id"\?/)]);
});

/** Without dictionaries: a stream of it is a schema, a batch and the end mark. */
const fixed = tableFromArrays({
  id: Int32Array.from({ length: 5000 }, (_, i) => i),
  x: new Float64Array(5000),
});

/** A join whose left side never ends, when both sides are being partitioned. */
async function startEndless(folder: string): Promise<ChildProcess> {
  const call = ["join", "-", path("r.csv"), "--on", "id", "--format", "arrow"];
  const args = [...call, "--out", path("never.csv"), "--memory", "1M", "--tmp", folder, "--device", "cpu"];
  const child = start(args, process.env, "pipe", "pipe");
  const endless = function* () {
    const stream = tableToIPC(fixed, { format: "stream" }) as Uint8Array;
    const schemaEnd = 8 + new DataView(stream.buffer, stream.byteOffset).getUint32(4, true);
    yield stream.subarray(0, schemaEnd);
    for (;;) yield stream.subarray(schemaEnd, stream.length - 8); // the batch, without the end mark
  };
  pipeline(Readable.from(endless()), child.stdin as Writable).catch(() => {}); // the pipe closes with the process
  // the files of 32 partitions of the right, and one of the left at least
  while (child.exitCode === null && filesIn(folder).length < 33) await after(20);
  return child;
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder).flatMap((name) => readdirSync(joinPaths(folder, name)));
  } catch {
    return []; // a folder that went away
  }
}

describe("a run that is stopped half-way", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("by %s leaves no file", async (signal, expected) => {
    const folder = path(signal);
    mkdirSync(folder);
    const child = await startEndless(folder);
    child.kill(signal);
    expect((await outcomeOf(child)).status).toBe(expected);
    expect(readdirSync(folder)).toEqual([]);
    expect(readdirSync(path(""))).not.toContain("never.csv");
  });

  it("by SIGKILL leaves files, which the next run removes", async () => {
    const folder = path("SIGKILL");
    mkdirSync(folder);
    const child = await startEndless(folder);
    child.kill("SIGKILL");
    expect((await outcomeOf(child)).status).toBe(137);
    expect(filesIn(folder).length).toBeGreaterThan(32);
    const call = ["join", path("l.parquet"), path("r.csv"), "--on", "id", "--json"];
    const { status } = await cli([...call, "--memory", "1M", "--tmp", folder, "--device", "cpu"]);
    expect([status, readdirSync(folder)]).toEqual([0, []]);
  });
});

it.runIf(process.platform === "linux")(
  "a run that has no room for its result says so, and leaves nothing",
  async () => {
    const call = ["join", path("l.parquet"), path("r.csv"), "--on", "id", ...WITHIN];
    const { status, stderr } = await cli([...call, "--out", "/dev/full", "--format", "csv"]);
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/\/dev\/full: no space is left on the device/),
    ]);
    expect(readdirSync(TMP)).toEqual([]);
  },
);
