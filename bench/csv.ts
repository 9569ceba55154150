/**
 * The benchmark csv: reading csv files into memory. Three texts of 50 MB each, of numbers, of strings and of quoted fields, are read by
 * warpmap on one thread and on all of the device's, by Papa Parse and uDSV, the usual packages in JavaScript, and by DuckDB with as
 * many threads. Every way starts from the file and ends with values of their types. What each read is compared before it is timed.
 */
import { createWriteStream } from "node:fs";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { availableParallelism, tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";
import { type Device, EngineError, ValidationError } from "../src/index.js";
import { readTable } from "../src/io/index.js";
import { type Duck, installed, openDuck } from "./flight-files.js";
import { collectGarbage } from "./garbage.js";
import { type BenchOptions, type BenchReport, type BenchRow, circumstances, engineName } from "./report.js";
import { median, timeInTurn, withCpuTime } from "./timing.js";
import { Random } from "./zipf.js";

const ROWS = 1_000_000;
/** A JavaScript string, which others read, has 2^29 code units at most. */
const MOST_ROWS = 5_000_000;

/** What a text is found to hold: its rows, the sum of its column `id`, the characters of its column `text`. */
type Content = readonly [rows: number, sum: number, characters: number];

/** One way from a file to values in memory. */
interface Reader {
  readonly name: string;
  read(path: string): Promise<unknown>;
  /** Of what `read` answered. */
  contentOf(made: never): Promise<Content> | Content;
}

/** `options.size`: rows of each text. */
export async function run(device: Device, options: BenchOptions): Promise<BenchReport> {
  const { size = ROWS, runs = 5, signal, onProgress } = options;
  if (!(Number.isInteger(size) && size >= 1 && size <= MOST_ROWS)) {
    throw new ValidationError(
      `csv does not measure texts of ${size} rows.`,
      `Give a whole number from 1 to ${MOST_ROWS}.`,
    );
  }
  const where = circumstances(device);
  const all = device.backend === "cpu" ? device.info.threads : availableParallelism();
  const threads = [...new Set([1, all])];
  const folder = await mkdtemp(join(tmpdir(), "warpmap-bench-"));
  const ducks: Duck[] = [];
  const rows: BenchRow[] = [];
  try {
    for (const each of threads) {
      const duck = await openDuck(each);
      if (duck !== null) ducks.push(duck);
    }
    const readers = [
      ...threads.map(ownReader),
      ...(await papaReader()),
      ...(await udsvReader()),
      ...ducks.map((duck, i) => duckReader(duck, threads[i])),
    ];
    for (const [name, { header, row, characters }] of Object.entries(TEXTS)) {
      onProgress?.(`writing ${name}`);
      const path = join(folder, `${name}.csv`);
      const expected = await writeText(path, size, header, row, characters);
      for (const reader of readers) {
        signal?.throwIfAborted();
        onProgress?.(`${name} by ${reader.name}`);
        await check(name, reader, path, expected);
      }
      rows.push(...(await measure(name, path, readers, runs)));
    }
  } finally {
    for (const duck of ducks) duck[Symbol.dispose]();
    await rm(folder, { recursive: true });
  }
  return {
    bench: "csv",
    state: "warm loop",
    ...where,
    parameters: { rows: size, threads: all, DuckDB: ducks[0]?.version ?? "not installed" },
    rows,
    notes: [
      "Medians of runs in turn, garbage collected before each. ratio is this row's time over that of warpmap on one thread: above 1, warpmap is faster. cpu ratio: the same of the processor's time.",
      "cpu ms: the processor's time of all threads of the process, on a busy machine the better figure to compare.",
      "warpmap makes an Arrow table, uDSV an array of values for each column, Papa Parse one for each row, DuckDB a table of its database. Papa Parse and uDSV read whole numbers beyond 2^53 as the nearest float64.",
    ],
  };
}

async function measure(
  text: string,
  path: string,
  readers: readonly Reader[],
  runs: number,
): Promise<BenchRow[]> {
  const ways = readers.map(({ read }) => withCpuTime({ before: collectGarbage, call: () => read(path) }));
  const timings = await timeInTurn(
    ways.map(({ way }) => way),
    { runs, leastTotalMs: 0 },
  );
  const cpu = ways.map(({ cpuMs }) => median(cpuMs.slice(1))); // but for the first run, which does not count
  const megabytes = (await stat(path)).size / 1e6;
  return readers.map(({ name }, i) => ({
    text,
    by: name,
    ms: timings[i].median,
    "fastest ms": timings[i].fastest,
    "MB/s": (1000 * megabytes) / timings[i].median,
    ratio: timings[i].median / timings[0].median,
    "cpu ms": cpu[i],
    "cpu ratio": cpu[i] / cpu[0],
    MB: megabytes,
    runs: timings[i].runs,
  }));
}

/** @throws EngineError unless a reader finds what was written */
async function check(text: string, { name, read, contentOf }: Reader, path: string, expected: Content) {
  const content = await contentOf((await read(path)) as never);
  if (content.join() === expected.join()) return;
  throw new EngineError(`csv: ${name} reads ${content} (rows, sum, characters) of ${text}, not ${expected}.`);
}

function ownReader(threads: number): Reader {
  return {
    name: engineName({ backend: "cpu", info: { threads } } as Device),
    read: (path) => readTable(path, { threads }),
    contentOf(table: Awaited<ReturnType<typeof readTable>>) {
      const texts = table.getChild("text")?.toArray() ?? [];
      return contentOf(table.numRows, table.getChild("id").toArray(), texts as string[]);
    },
  };
}

async function papaReader(): Promise<Reader[]> {
  const papa = (await installed<{ default: typeof import("papaparse") }>("papaparse"))?.default;
  if (papa === undefined) return [];
  return [
    {
      name: "Papa Parse",
      read: async (path) =>
        papa.parse(await readFile(path, "utf8"), { dynamicTyping: true, skipEmptyLines: true }).data,
      contentOf([header, ...rows]: unknown[][]) {
        const column = (name: string) => {
          const i = header.indexOf(name);
          return i < 0 ? [] : rows.map((row) => row[i]);
        };
        return contentOf(rows.length, column("id") as number[], column("text") as string[]);
      },
    },
  ];
}

async function udsvReader(): Promise<Reader[]> {
  const udsv = await installed<typeof import("udsv")>("udsv");
  if (udsv === null) return [];
  let names: string[] = [];
  return [
    {
      name: "uDSV",
      async read(path) {
        const text = await readFile(path, "utf8");
        const parser = udsv.initParser(udsv.inferSchema(text));
        names = parser.schema.cols.map(({ name }) => name);
        return parser.typedCols(text);
      },
      contentOf(columns: unknown[][]) {
        const column = (name: string) => columns[names.indexOf(name)] ?? [];
        return contentOf(columns[0].length, column("id") as number[], column("text") as string[]);
      },
    },
  ];
}

function duckReader(duck: Duck, threads: number): Reader {
  return {
    name: `DuckDB, ${threads} ${threads === 1 ? "thread" : "threads"}`,
    read: (path) =>
      duck.run(`CREATE OR REPLACE TABLE made AS SELECT * FROM read_csv('${path.replaceAll("'", "''")}')`),
    async contentOf() {
      const columns = await duck.first("SELECT list(column_name) FROM (DESCRIBE made)");
      const characters = String(columns).includes("text") ? "sum(length(text))" : "0";
      const [rows, sum, length] = await duck.first(`SELECT count(*), sum(id), ${characters} FROM made`);
      return [Number(rows), Number(sum), Number(length)];
    },
  };
}

function contentOf(rows: number, ids: ArrayLike<number>, texts: ArrayLike<string>): Content {
  const sum = Array.prototype.reduce.call(ids, (sum, id) => Number(sum) + Number(id), 0);
  const characters = Array.prototype.reduce.call(texts, (sum, text) => Number(sum) + String(text).length, 0);
  return [rows, sum as number, characters as number];
}

const WORDS = "river stone café winter market signal harbour north engine paper violet über orbit".split(" ");

/** A row is some 50 bytes. `characters`: those of the field `text`. */
interface Text {
  readonly header: string;
  readonly row: (id: number, random: Random) => string;
  readonly characters: (line: string) => number;
}

const some = (random: Random, words: number) =>
  Array.from({ length: words }, () => WORDS[random.next() % WORDS.length]).join(" ");

/** Texts by name. The characters of a text are those behind the first comma, less what quotes take. */
const TEXTS: Readonly<Record<string, Text>> = {
  numbers: {
    header: "id,whole,price,ratio,at",
    row(id, random) {
      const price = (random.next() % 1_000_000) / 100;
      const at = new Date(1.6e12 + 1000 * (random.next() % 1e8)).toISOString().slice(0, 19);
      return `${id},${(random.next() | 0) % 1e8},${price.toFixed(2)},${random.unit().toFixed(9)},${at}`;
    },
    characters: () => 0,
  },
  strings: {
    header: "id,text",
    row: (id, random) => `${id},${some(random, 6)}`,
    characters: (line) => line.length - line.indexOf(",") - 1,
  },
  quoted: {
    header: `"id","text"`,
    row: (id, random) =>
      `"${id}","${some(random, 2)}, ""${some(random, 2)}""${id % 8 ? "," : "\n"} ${some(random, 1)}"`,
    characters: (line) => line.length - line.indexOf(",") - 3 - 2,
  },
};

async function writeText(
  path: string,
  rows: number,
  header: string,
  row: Text["row"],
  characters: Text["characters"],
): Promise<Content> {
  const random = new Random(7);
  const out = createWriteStream(path);
  out.write(`${header}\n`);
  let [sum, length, pending] = [0, 0, ""];
  for (let id = 0; id < rows; id++) {
    const line = row(id, random);
    sum += id;
    length += characters(line);
    pending += `${line}\n`;
    if (pending.length < 1 << 20) continue;
    out.write(pending);
    pending = "";
  }
  out.end(pending);
  await finished(out);
  return [rows, sum, length];
}
