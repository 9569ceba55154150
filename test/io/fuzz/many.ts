/**
 * A process that reads one damaged file after the other, in the ways that readers have, and tells what is wrong with each: see
 * many-damaged.ts. Before a file it writes the file's seed down, so that the seed is known where the process hangs or dies.
 */
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { WarpmapError } from "../../../src/errors.js";
import { type Format, readBatches, readTable } from "../../../src/io/index.js";
import { textReader } from "../../../src/io/values.js";
import { damaged, random } from "./mutate.js";

type Read = Awaited<ReturnType<typeof readTable>>;
type Texts = (string | null)[][];

/** Rows of a table whose values are looked at: a column of nulls may have any number. */
const ROWS = 2000;
/** What JavaScript says where nobody looked. */
const RAW =
  /Cannot read|undefined|not a function|not iterable|Invalid .*length|outside the bounds|call stack|NaN/;
/** Most memory that the process may ever take. */
const MEMORY = 2 ** 30;

const [folder, format, from, to] = process.argv.slice(2) as [string, Format, string, string];
const names = readdirSync(folder).sort();
const seeds = names.map((name) => readFileSync(join(folder, name)));
const counts = { read: 0, refused: 0 };

/** All values as text. */
function valuesOf(table: Read): Texts {
  return table.children.map((column) => {
    const read = textReader(column as never);
    return Array.from({ length: Math.min(ROWS, table.numRows) }, (_, row) => read(row));
  });
}

/** A stream of the same bytes, cut anywhere. */
function cut(bytes: Uint8Array, next: () => number): ReadableStream<Uint8Array> {
  const pieces = Array.from({ length: 1 + Math.floor(next() * 8) }, () => Math.floor(next() * bytes.length));
  const ends = [0, ...pieces.sort((a, b) => a - b), bytes.length];
  return new ReadableStream({
    start(controller) {
      for (let i = 1; i < ends.length; i++) {
        if (ends[i] > ends[i - 1]) controller.enqueue(bytes.subarray(ends[i - 1], ends[i]));
      }
      controller.close();
    },
  });
}

/** The file read in one of the ways that there are. */
async function readSomehow(bytes: Uint8Array, next: () => number): Promise<void> {
  const source = next() < 0.5 ? bytes : cut(bytes, next);
  const columns = next() < 0.3 ? (all: readonly string[]) => all.filter(() => next() < 0.5) : undefined;
  const options = { format, columns, threads: 1 } as const;
  if (next() < 0.5) {
    valuesOf(await readTable(source, options));
    return;
  }
  for await (const batch of readBatches(source, options)) valuesOf(batch);
}

async function problemOf(seed: number): Promise<string | null> {
  const next = random(seed ^ 0x5bd1e995);
  const bytes = damaged(seeds[seed % seeds.length], seed, format === "csv" ? "text" : "structure");
  try {
    await readSomehow(new Uint8Array(bytes), next);
    counts.read++;
  } catch (error) {
    counts.refused++;
    if (!(error instanceof WarpmapError) || RAW.test(error.message) || error.message.includes("\n"))
      return String((error as Error).stack ?? error).slice(0, 600);
  }
  // the call takes as long as reading
  const memory = seed % 16 === 0 ? process.resourceUsage().maxRSS * 1024 : 0;
  if (memory > MEMORY) {
    process.send?.({
      seed,
      name: names[seed % names.length],
      problem: `${memory} bytes of memory, here or shortly before`,
    });
    process.exit(1);
  }
  return null;
}

for (let seed = Number(from); seed < Number(to); seed++) {
  writeSync(3, `${seed}`.padEnd(20), 0);
  const problem = await problemOf(seed);
  if (problem !== null) process.send?.({ seed, name: names[seed % names.length], problem });
  // signals of the parent, and what streams left to do
  if (seed % 256 === 0) await new Promise((done) => setImmediate(done));
}
process.send?.({ counts }, () => process.exit(0));
