/**
 * The benchmark workers: `--workers 2` beside one process with `--memory`, each as whole processes in turn with the same
 * files and the same bound of memory; and a call of 1,000 parts of a row each, which shows what a part costs. DuckDB
 * makes the tables, and compares the answers.
 */
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { runProcess } from "./file-processes.js";
import { type Duck, openDuck } from "./flight-files.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances } from "./report.js";
import { median } from "./timing.js";

const EVENTS = 20_000_000;
const MOST_EVENTS = 2 ** 28;
const PARTS = 1000;
const MEMORY = "1G";

/** `options.size`: rows of the larger table. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size = EVENTS, runs = 3, signal, onProgress } = options;
  if (!(Number.isInteger(size) && size >= 2 && size <= MOST_EVENTS))
    throw new ValidationError(`workers does not measure ${size} rows.`, `Give 2 to ${MOST_EVENTS} rows.`);
  const program = join(process.cwd(), "dist/cli/main.js");
  if (!existsSync(program))
    throw new ValidationError(
      `There is no ${program}.`,
      "Run npm run build, and the benchmark from the checkout.",
    );
  const duck = await openDuck(1);
  if (duck === null) throw new ValidationError("DuckDB is not installed.", "Run the benchmark in a clone.");
  const folder = await mkdtemp(join(tmpdir(), "warpmap-bench-"));
  const rows: BenchRow[] = [];
  try {
    onProgress?.("making the files");
    const [events, users] = await makeFiles(duck, folder, size);
    const tasks = {
      "join of a side that fits": ["join", events, users, "--on", "u"],
      "full join, both sides dealt out": ["join", events, users, "--on", "u", "--how", "full"],
      "group-by of a key with few rows": ["group", events, "--by", "u", "--agg", "count,sum:page,mean:v"],
      "group-by of 1,000 groups": ["group", events, "--by", "page", "--agg", "count,sum:u,mean:v"],
    };
    for (const [task, call] of Object.entries(tasks)) {
      signal?.throwIfAborted();
      onProgress?.(task);
      const ways = [
        { by: "one process", more: [], out: join(folder, "one.parquet") },
        { by: "2 workers", more: ["--workers", "2"], out: join(folder, "parts") },
      ];
      const all = ways.map((): number[] => []);
      for (let i = 0; i < runs; i++)
        for (const [w, { more, out }] of ways.entries()) {
          await rm(out, { recursive: true, force: true });
          const { ms } = await runProcess([
            program,
            ...call,
            "--memory",
            MEMORY,
            ...more,
            "--out",
            out,
            "--device",
            "cpu",
          ]);
          all[w].push(ms);
        }
      await checkSame(duck, task, ways[0].out, join(ways[1].out, "*.parquet"));
      for (const [w, { by }] of ways.entries())
        rows.push({
          task,
          by,
          ms: median(all[w]),
          "fastest ms": Math.min(...all[w]),
          ratio: median(all[0]) / median(all[w]),
        });
    }
    const many = join(folder, "many");
    await mkdir(many);
    for (let i = 0; i < PARTS; i++) await writeFile(join(many, `${i}.csv`), `a\n${i}\n`);
    const { ms } = await runProcess([
      program,
      "distinct",
      many,
      "--on",
      "a",
      "--workers",
      "2",
      "--device",
      "cpu",
    ]);
    rows.push({ task: `${PARTS} parts of a row`, by: "2 workers", ms, "fastest ms": ms, ratio: 1 });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return {
    ...circumstances(device),
    bench: "workers",
    state: "cold process",
    parameters: { rows: size, memory: MEMORY, DuckDB: duck.version },
    rows,
    notes: [
      "Medians of whole processes in turn. ratio is one process's time over this row's: above 1, workers are faster.",
    ],
  };
}

async function makeFiles(duck: Duck, folder: string, size: number): Promise<[events: string, users: string]> {
  const [events, users] = ["events", "users"].map((name) => join(folder, `${name}.parquet`));
  const half = size >> 1;
  await duck.run(
    `COPY (SELECT i::INT AS id, (hash(i) % ${half})::BIGINT AS u, (hash(i + 1) % 1000)::INT AS page, (hash(i + 7) % 100000) / 100.0::DOUBLE AS v FROM range(${size}) r(i)) TO '${events}'`,
  );
  await duck.run(
    `COPY (SELECT i::BIGINT AS u, 'user ' || (i % 1000) AS name, i % 77 AS age FROM range(${half}) r(i)) TO '${users}'`,
  );
  return [events, users];
}

/** @throws EngineError unless both hold the same rows, in any order */
async function checkSame(duck: Duck, task: string, one: string, parts: string): Promise<void> {
  const digest = async (path: string) =>
    (await duck.first(`SELECT count(*), sum(hash(t::VARCHAR)) FROM '${path}' t`)).map(String);
  const [a, b] = [await digest(one), await digest(parts)];
  if (a.join() !== b.join()) throw new EngineError(`workers: ${task}: ${a} in one process, ${b} on workers.`);
}
