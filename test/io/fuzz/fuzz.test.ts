/**
 * Damaged files of all three formats: each is read as what it says, or refused in words, in little time and memory. Parquet
 * and csv are held against DuckDB; arrow against apache-arrow's reader, where that reads the file. `npm run test:long` tries many more.
 */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import * as zlib from "node:zlib";
import {
  bool,
  CompressionType,
  dictionary,
  int32,
  int64,
  list,
  setCompressionCodec,
  tableFromArrays,
  tableToIPC,
  utf8,
} from "@uwdata/flechette";
import lz4 from "lz4js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readTable, tableToBytes } from "../../../src/io/index.js";
import { decodeLz4Frame } from "../../../src/io/lz4.js";
import { isLong } from "../../helpers/rounds.js";
import { type Duck, openDuck } from "../duckdb.js";
import { temporaryFolder } from "../temporary.js";
import { ANY, type Answer, Reader } from "./child.js";
import { damaged } from "./mutate.js";

const path = temporaryFolder();
const ours = new Reader("warpmap");
const theirs = new Reader("duckdb");
const apache = new Reader("apache-arrow");
let duck: Duck;
beforeAll(async () => {
  duck = await openDuck();
});
afterAll(() => {
  ours.stop();
  theirs.stop();
  apache.stop();
});

/** Memory that reading a file of some kilobytes may take above that of the process. */
const MEMORY = 400 * 2 ** 20;
/** What JavaScript says where nobody looked. */
const RAW =
  /Cannot read|undefined|not a function|not iterable|Invalid .*length|outside the bounds|call stack|NaN/;

type Columns = (string | null)[][];

interface Seed {
  readonly name: string;
  readonly bytes: Uint8Array;
}

interface Verdict {
  /** Rows to be like, null where the file should be refused, undefined where nobody knows. */
  columns: Columns | null | undefined;
  /** Why it should be refused. */
  reason?: string;
}

/** Damages every seed in turn, and collects what is wrong with the answers. */
async function fuzz(
  seeds: readonly Seed[],
  count: number,
  kind: "binary" | "text",
  judge: (file: string, bytes: Buffer) => Promise<Verdict>,
): Promise<{ failures: string[]; read: number; refused: number }> {
  const result = { failures: [] as string[], read: 0, refused: 0 };
  let base = 0;
  const whole = new Map<string, Columns>();
  for (const { name, bytes } of seeds) {
    writeFileSync(path(name), bytes);
    const answer = await ours.read({ file: path(name) });
    if (answer.columns === undefined) result.failures.push(`${name} as it is: ${answer.error}`);
    else whole.set(name, answer.columns);
    base = Math.max(base, answer.maxRss);
  }
  for (let seed = 0; seed < count; seed++) {
    const { name, bytes } = seeds[seed % seeds.length];
    const file = path(`damaged-${seed}-${name}`); // a name of its own: DuckDB remembers files
    const copy = damaged(bytes, seed, kind);
    writeFileSync(file, copy);
    const answer = await ours.read({ file });
    if (answer.columns) result.read++;
    else result.refused++;
    const verdict = await judge(file, copy);
    // what is wrong may be in a part that nobody needs, or that others stumble over: then the rows are those of the whole file
    const harmless = unlike(answer.columns, { columns: whole.get(name) }) === null;
    const problem = wrong(answer, base) ?? (harmless ? null : unlike(answer.columns, verdict));
    if (problem) {
      result.failures.push(`${name}, seed ${seed}: ${problem}`);
      if (isLong()) console.error(result.failures.at(-1)); // hours may pass until the end
    }
    rmSync(file);
  }
  return result;
}

function wrong({ error, inWords, maxRss }: Answer, base: number): string | null {
  if (error !== undefined && (!inWords || RAW.test(error) || error.includes("\n"))) return error;
  return maxRss > base + MEMORY ? `${Math.round(maxRss / 2 ** 20)} MiB` : null;
}

/** Refusing is always right where somebody else reads on: checksums, codes and text are looked at here. */
function unlike(columns: Columns | undefined, { columns: expected, reason }: Verdict): string | null {
  if (columns === undefined || expected === undefined) return null;
  if (expected === null) return `read, and should be refused: ${reason}`;
  if (expected.length === 0) return null; // without rows there is nothing to compare
  if (columns.length !== expected.length) return `${columns.length} columns for ${expected.length}`;
  for (const [i, values] of columns.entries()) {
    if (values.length !== expected[i].length) return `${values.length} rows for ${expected[i].length}`;
    const row = values.findIndex((value, at) => !same(value, expected[i][at]));
    if (row >= 0) return `column ${i}, row ${row}: ${values[row]} for ${expected[i][row]}`;
  }
  return null;
}

function same(a: string | null, b: string | null): boolean {
  if (b === ANY) return a !== null;
  if (a?.startsWith("\ufeff") && a.slice(1) === b) return true; // the package of DuckDB drops a mark before a text
  if (a === "" || b === "") return (a || null) === (b || null); // DuckDB reads "" as null in csv
  if (b !== null && /^\d{5,}-|\(BC\)$|infinity$/.test(b)) return a !== null; // days that JavaScript has no name for
  if (a === null || b === null) return a === b;
  if (SECONDS.test(a) && SECONDS.test(b))
    return Number(a.slice(6)) === Number(b.slice(6)) && a.slice(0, 6) === b.slice(0, 6);
  // a damaged schema may leave open whether bytes are text
  return (
    a === b ||
    Number(a) === Number(b) ||
    (a === "NaN" && /^-?nan$/.test(b)) ||
    Buffer.from(a, "hex").toString() === b
  );
}

/** A time of a day: DuckDB leaves out zeros at its end. */
const SECONDS = /^\d\d:\d\d:\d\d(?:\.\d+)?$/;

const ROWS =
  "select i as n, i * 1000003 as big, 'text ' || (i % 11) as s, case when i % 3 = 0 then i / 8 end as f, i % 2 = 0 as b, date '2024-01-01' + i::integer as d from range(60) t(i)";

const NESTED =
  "select i as n, case when i % 4 > 0 then range(i % 5) end as l, case when i % 5 > 0 then {'a': i, 'b': 'text ' || (i % 3), 'c': [[i], [], null]} end as s, map {'k' || (i % 3): i / 8} as m, [{'x': i, 'y': ['v' || i]}, null] as ls from range(60) t(i)";

/**
 * What DuckDB says where it is no judge: it ended; it stumbled over a part of the metadata that others skip; or the zstd of
 * Node's older versions, which is fzstd's, looks less closely.
 */
const OPEN =
  "zstdDecompressSync" in zlib
    ? /^HUNG|^DIED|TProtocolException|invalid TType|Unsupported converted type|enough columns/
    : /^HUNG|^DIED|TProtocolException|invalid TType|Unsupported converted type|enough columns|ZSTD Decompression failure|Payload value bigger/;

it("parquet", async () => {
  const seeds: Seed[] = [];
  for (const codec of ["uncompressed", "snappy", "gzip", "zstd", "lz4_raw", "brotli"]) {
    for (const version of ["V1", "V2"]) {
      const name = `${codec}-${version}.parquet`;
      await duck.run(
        `copy (${ROWS}) to '${path(name)}' (format parquet, compression ${codec}, parquet_version ${version}, row_group_size 2048)`,
      );
      seeds.push({ name, bytes: readFileSync(path(name)) });
    }
  }
  for (const version of ["V1", "V2"]) {
    const name = `nested-${version}.parquet`;
    await duck.run(`copy (${NESTED}) to '${path(name)}' (format parquet, parquet_version ${version})`);
    seeds.push({ name, bytes: readFileSync(path(name)) });
  }
  const own = await tableToBytes(await readTable(path("nested-V1.parquet")), { format: "parquet" });
  seeds.push({ name: "nested-own.parquet", bytes: own });
  const judge = async (file: string) => {
    // nested values have other texts in DuckDB
    if (file.includes("nested-")) return { columns: undefined };
    const { columns, error } = await theirs.read({ file });
    return { columns: columns ?? (OPEN.test(error ?? "") ? undefined : null), reason: error };
  };
  const { failures, read, refused } = await fuzz(seeds, isLong() ? 30_000 : 120, "binary", judge);
  expect(failures).toEqual([]);
  expect(read).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 36_000_000);

it("csv", async () => {
  const lines = Array.from(
    { length: 40 },
    (_, i) => `${i},"text ${i}, with ""quotes""",${i / 8},${i % 5 ? `x${i}` : ""},2024-01-${10 + (i % 10)}`,
  );
  const text = `id,s,f,e,d\n${lines.join("\n")}\n`;
  const seeds = [
    { name: "lf.csv", bytes: Buffer.from(text) },
    { name: "crlf.csv", bytes: Buffer.from(text.replaceAll("\n", "\r\n")) },
  ];
  const judge = async (file: string, bytes: Buffer) => {
    // where lines end in several ways, or in a lone CR, DuckDB and RFC 4180 go different ways
    const ends = bytes.toString("latin1").match(/\r\n|\r|\n/g) ?? [];
    if (new Set(ends).size !== 1 || ends[0] === "\r" || bytes.includes(0)) return { columns: undefined };
    const sql = `from read_csv('${file}', header = true, all_varchar = true, delim = ',', quote = '"', escape = '"', auto_detect = false, columns = ${columnsOf(bytes)}, null_padding = false)`;
    const { columns } = await theirs.read({ file, sql });
    return { columns };
  };
  const { failures, read, refused } = await fuzz(seeds, isLong() ? 10_000 : 80, "text", judge);
  expect(failures).toEqual([]);
  expect(read).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 36_000_000);

/** Columns for DuckDB, whose number it would guess otherwise. */
function columnsOf(bytes: Buffer): string {
  const count = bytes.toString("utf8").split(/\r?\n/)[0].split(",").length;
  return `{${Array.from({ length: count }, (_, i) => `c${i}: 'VARCHAR'`).join(", ")}}`;
}

it("arrow", async () => {
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    encode: (bytes) => lz4.compress(bytes),
    decode: decodeLz4Frame,
  });
  const index = Array.from({ length: 60 }, (_, i) => i);
  const table = tableFromArrays(
    {
      n: index,
      big: index.map((i) => BigInt(i) * 1_000_003n),
      s: index.map((i) => (i % 5 ? `text ${i}` : null)),
      b: index.map((i) => i % 2 === 0),
      k: index.map((i) => `key ${i % 4}`),
      l: index.map((i) => [i, i + 1]),
    },
    { types: { n: int32(), big: int64(), s: utf8(), b: bool(), k: dictionary(utf8()), l: list(int32()) } },
  );
  const seeds = (["file", "stream"] as const).flatMap((format) => [
    { name: `${format}.arrow`, bytes: tableToIPC(table, { format }) as Uint8Array },
    {
      name: `${format}-lz4.arrow`,
      bytes: tableToIPC(table, { format, codec: CompressionType.LZ4_FRAME }) as Uint8Array,
    },
  ]);
  // apache-arrow checks nothing: where it reads a file, it reads what is there
  const judge = async (file: string) => ({ columns: (await apache.read({ file })).columns });
  const { failures, read, refused } = await fuzz(seeds, isLong() ? 30_000 : 200, "binary", judge);
  expect(failures).toEqual([]);
  expect(read).toBeGreaterThan(0);
  expect(refused).toBeGreaterThan(0);
}, 36_000_000);
