/**
 * The benchmark files: from files to a file. 3 million flights are joined with their airports into csv, parquet and arrow files, a csv
 * file is written as parquet, flights are counted by route; each by warpmap and, where it is installed, by DuckDB with as many
 * threads, in turn. Beside them the flights are read alone: by warpmap, by hyparquet and by DuckDB. What the files of both hold is
 * compared before anything is timed.
 */
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join as joinPath } from "node:path";
import { parquetRead } from "hyparquet";
import { compressors } from "hyparquet-compressors";
import { firstRows } from "../src/arrow/first-rows.js";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { readTable, writeTable } from "../src/io/index.js";
import { count, groupBy, join, sum } from "../src/relational/index.js";
import { LINE_ITEMS, processRows } from "./file-processes.js";
import { type Duck, type FlightFiles, flightFiles, openDuck } from "./flight-files.js";
import { collectGarbage } from "./garbage.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances, engineName } from "./report.js";
import { median, type TimedCall, type Timing, timeInTurn, withCpuTime } from "./timing.js";

/** What a run spends its time with. */
const PARTS = ["reading", "working", "moving", "writing"] as const;
type Part = (typeof PARTS)[number];
type Clock = (part: Part, milliseconds: number) => void;

/** One way from files to a file. */
interface Task {
  readonly name: string;
  /** Of the result. Empty: nothing is written. */
  readonly extension: string;
  readonly own: (out: string, clock: Clock) => Promise<unknown>;
  /** SQL of the same rows. Undefined: DuckDB does not write the format. */
  readonly sql?: string;
  /** Somebody else's way. */
  readonly others?: Readonly<Record<string, () => Promise<unknown>>>;
}

const MOST_ROWS = 3_000_000;

/** `processes`: whole processes of the command line beside such of DuckDB. */
export const sweeps = ["processes"] as const;

/** `options.size`: only so many flights; of `processes` so many line items. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  if (options.sweep === "processes") return runProcesses(device, options);
  const { size = MOST_ROWS, signal, onProgress, runs = 3 } = options;
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_ROWS)) {
    throw new ValidationError(
      `files does not read ${size} flights.`,
      `Give a whole number from 1 to ${MOST_ROWS}.`,
    );
  }
  const where = circumstances(device);
  const threads = device.backend === "cpu" ? device.info.threads : availableParallelism();
  const duck = await openDuck(threads);
  const folder = await mkdtemp(joinPath(tmpdir(), "warpmap-bench-"));
  try {
    onProgress?.("making the files");
    const files = await cutFiles(flightFiles(), size, folder);
    const rows: BenchRow[] = [];
    for (const task of tasksOf(device, files, threads)) {
      signal?.throwIfAborted();
      onProgress?.(task.name);
      rows.push(...(await measure(task, device, duck, folder, runs)));
    }
    return {
      bench: "files",
      state: "warm loop",
      ...where,
      parameters: { flights: size, threads, DuckDB: duck?.version ?? "not installed" },
      rows,
      notes: [
        "Medians of runs in turn, garbage collected before each. ratio is this row's time over warpmap's: above 1, warpmap is faster. warpmap's parts are medians of their own.",
        "cpu ms: the processor's time of all threads of the process, on a busy machine the better figure to compare.",
        "reading: until tables are in memory. working: keys are encoded and matched, groups counted. moving: the columns of the result are gathered. writing: until the file has its name.",
        ...(duck === null
          ? ["DuckDB is not installed: npm install @duckdb/node-api."]
          : ["The rows of both files were the same, whatever their order: compared by DuckDB as text."]),
      ],
    };
  } finally {
    duck?.[Symbol.dispose]();
    await rm(folder, { recursive: true });
  }
}

/** @throws ValidationError where DuckDB, which makes the files, is not installed */
async function runProcesses(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size = LINE_ITEMS } = options;
  const where = circumstances(device);
  const threads = device.backend === "cpu" ? device.info.threads : availableParallelism();
  using duck = await openDuck(threads);
  if (duck === null) {
    throw new ValidationError("DuckDB is not installed.", "Run npm install @duckdb/node-api.");
  }
  const folder = await mkdtemp(joinPath(tmpdir(), "warpmap-bench-"));
  try {
    return {
      bench: "files",
      state: "cold process",
      ...where,
      parameters: { "line items": size, threads, DuckDB: duck.version },
      rows: await processRows(duck, folder, threads, size, options),
      notes: [
        "Medians of whole processes in turn, from start to end. ratio is this row's time over warpmap's: above 1, warpmap is faster. memory ratio is warpmap's peak over this row's: below 1, warpmap takes less.",
        "cpu ms: the processor's time of all threads of the process, on a busy machine the better figure to compare.",
        "DuckDB writes no Arrow files: beside them it writes Parquet.",
        "The rows of both files were the same, whatever their order: compared by DuckDB as text.",
      ],
    };
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** The files that tasks read: with so many flights, and these as csv. */
async function cutFiles(
  files: FlightFiles,
  rows: number,
  folder: string,
): Promise<FlightFiles & { csv: string }> {
  const all = await readTable(files.flights);
  const csv = joinPath(folder, "input.csv");
  if (rows === all.numRows) {
    await writeTable(csv, all);
    return { ...files, csv };
  }
  const flights = joinPath(folder, "input.parquet");
  const some = firstRows(all, rows);
  await writeTable(flights, some);
  await writeTable(csv, some);
  return { ...files, flights, csv };
}

function tasksOf(
  device: Device,
  { flights, airports, csv }: FlightFiles & { csv: string },
  threads: number,
): Task[] {
  const read = (path: string) => `'${path.replaceAll("'", "''")}'`;
  // as the command line does, which asks for dictionaries where the format has none
  const joined = (dictionaries?: "right") => async (out: string, clock: Clock) => {
    const [left, right] = await timed(clock, "reading", async () => [
      await readTable(flights, { threads }),
      await readTable(airports, { threads }),
    ]);
    const made = await join(left, right, {
      on: [["origin", "iata"]],
      dictionaries,
      device,
      onStage: stageClock(clock),
    });
    await timed(clock, "writing", () => writeTable(out, made, { threads }));
  };
  const grouped = async (out: string, clock: Clock) => {
    const columns = ["origin", "destination", "delay"];
    const table = await timed(clock, "reading", () => readTable(flights, { columns, threads }));
    const aggregate = { n: count(), total: sum("delay") };
    const by = ["origin", "destination"];
    const made = await groupBy(table, { by, aggregate, device, onStage: stageClock(clock) });
    await timed(clock, "writing", () => writeTable(out, made, { threads }));
  };
  const rewritten = async (out: string, clock: Clock) => {
    const table = await timed(clock, "reading", () => readTable(csv, { threads }));
    await timed(clock, "writing", () => writeTable(out, table, { threads }));
  };
  const alone = (path: string) => async (_: string, clock: Clock) =>
    timed(clock, "reading", () => readTable(path, { threads }));
  const joinSql = `SELECT f.*, a.* EXCLUDE (iata) FROM read_parquet(${read(flights)}) f JOIN read_csv(${read(airports)}, header = true) a ON f.origin = a.iata`;
  const groupSql = `SELECT origin, destination, count(*) AS n, sum(delay) AS total FROM read_parquet(${read(flights)}) GROUP BY ALL`;
  const hyparquet = async () => {
    const { buffer, byteOffset, byteLength } = await readFile(flights);
    const file = buffer.slice(byteOffset, byteOffset + byteLength) as ArrayBuffer;
    await parquetRead({ file, compressors, onChunk: () => {} });
  };
  return [
    { name: "flights with airports to csv", extension: ".csv", own: joined("right"), sql: joinSql },
    { name: "flights with airports to parquet", extension: ".parquet", own: joined("right"), sql: joinSql },
    { name: "flights with airports to arrow", extension: ".arrow", own: joined() },
    {
      name: "csv to parquet",
      extension: ".parquet",
      own: rewritten,
      sql: `SELECT * FROM read_csv(${read(csv)})`,
    },
    { name: "flights by route to csv", extension: ".csv", own: grouped, sql: groupSql },
    {
      name: "read flights",
      extension: "",
      own: alone(flights),
      sql: `SELECT * FROM read_parquet(${read(flights)})`,
      others: { hyparquet },
    },
    { name: "read csv", extension: "", own: alone(csv), sql: `SELECT * FROM read_csv(${read(csv)})` },
  ];
}

/** A join's and a group-by's stages as parts. */
function stageClock(clock: Clock): (stage: string, seconds: number) => void {
  return (stage, seconds) => clock(stage === "materialise" ? "moving" : "working", 1000 * seconds);
}

async function timed<T>(clock: Clock, part: Part, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  clock(part, performance.now() - start);
  return result;
}

async function measure(
  task: Task,
  device: Device,
  duck: Duck | null,
  folder: string,
  runs: number,
): Promise<BenchRow[]> {
  const { name, extension, own, sql, others = {} } = task;
  const [out, theirs] = ["own", "theirs"].map((file) => joinPath(folder, file + extension));
  const parts: Record<Part, number>[] = [];
  const before = async () => {
    await duck?.run("DROP TABLE IF EXISTS made");
    await collectGarbage();
  };
  const call = async () => {
    const spent = { reading: 0, working: 0, moving: 0, writing: 0 };
    await own(out, (part, ms) => {
      spent[part] += ms;
    });
    parts.push(spent);
  };
  const ways: Record<string, TimedCall> = { [engineName(device)]: { before, call } };
  if (duck !== null && sql !== undefined) {
    const statement =
      extension === "" ? `CREATE TABLE made AS ${sql}` : `COPY (${sql}) TO '${theirs.replaceAll("'", "''")}'`;
    await call();
    await duck.run(statement);
    if (extension !== "") await checkSame(duck, name, out, theirs);
    ways.DuckDB = { before, call: () => duck.run(statement) };
  }
  for (const [by, other] of Object.entries(others)) ways[by] = { before, call: other };
  const clocks = Object.values(ways).map(withCpuTime);
  const timings = await timeInTurn(
    clocks.map(({ way }) => way),
    { runs, leastTotalMs: 0 },
  );
  const [first] = timings;
  const bytes = extension === "" ? null : (await stat(out)).size / 1e6;
  const timedParts = parts.slice(-first.runs);
  const partMs = (part: Part) => median(timedParts.map((spent) => spent[part])) || null; // null: the task has no such part
  const shares = PARTS.map((part) => [`${part} ms`, partMs(part)] as const);
  return Object.keys(ways).map((by, i) => {
    const cpu = { "cpu ms": median(clocks[i].cpuMs.slice(-timings[i].runs)) };
    const more = i === 0 ? { ...cpu, MB: bytes, ...Object.fromEntries(shares) } : cpu;
    return rowOf(name, by, timings[i], first, more);
  });
}

function rowOf(task: string, by: string, timing: Timing, own: Timing, more: BenchRow): BenchRow {
  return {
    task,
    by,
    ms: timing.median,
    "fastest ms": timing.fastest,
    runs: timing.runs,
    ratio: timing.median / own.median,
    ...more,
  };
}

/** @throws EngineError unless two files hold the same rows, in any order */
async function checkSame(duck: Duck, task: string, own: string, theirs: string): Promise<void> {
  const digest = async (path: string) => {
    const rows = await duck.first(
      `SELECT count(*), sum(hash(t::VARCHAR)) FROM '${path.replaceAll("'", "''")}' t`,
    );
    return rows.map(String).join(" rows, digest ");
  };
  const [mine, other] = [await digest(own), await digest(theirs)];
  if (mine !== other) throw new EngineError(`files: ${task}: ${mine} here, ${other} in DuckDB.`);
}
