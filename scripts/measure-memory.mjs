// node scripts/measure-memory.mjs [MiB] [formats] [calls] [times]: the peak memory of commands with --memory, beside DuckDB's answers. Files are
// `times` (4) the limit large in memory. Calls: "join" of two files; "group" of one, with as many groups as rows; "hot", a semi join of
// which a quarter of both sides' rows have one key. Needs dist. Prints one line of JSON a call; exit status 1 where answers differ.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";

const root = resolve(fileURLToPath(import.meta.url), "../..");
const { readBatches, writeTable } = await import(join(root, "dist/io/index.js"));
const MIB = 2 ** 20;
/** Of a row in memory: an int64 key, two int64 values, text of 8 bytes with its offset, a row number. */
const ROW_BYTES = 8 + 8 + 8 + 8 + 4 + 4;

const [limit = 64, times = 4] = [process.argv[2], process.argv[5]].map((text) => text && Number(text));
const [formats, calls] = [
  (process.argv[3] ?? "csv,parquet,arrow").split(","),
  (process.argv[4] ?? "join,group,hot").split(","),
];
const folder = mkdtempSync(join(tmpdir(), "warpmap-measure-"));
const file = (name, format) => join(folder, `${name}.${format}`);
const rows = Math.ceil((times * limit * MIB) / ROW_BYTES);
const db = await (await DuckDBInstance.create(":memory:")).connect();

const l = `'${file("l", "parquet")}'`;
const r = `'${file("r", "parquet")}'`;
const hot = ["l", "r"].map((name) => `'${file(`hot_${name}`, "parquet")}'`);
/** What a call is, and the same in SQL; both in sums of columns. */
const CALLS = {
  join: {
    files: ["l", "r"],
    args: (l, r) => ["join", l, r, "--on", "id"],
    sums: "count(*), sum(l_row), sum(r_row), sum(l_x + r_x), sum(length(l_text))",
    sql: `${l} join ${r} using (id)`,
  },
  group: {
    files: ["l"],
    args: (l) => ["group", l, "--by", "id", "--agg", "count,sum:l_row,first:l_text"],
    sums: "count(*), sum(id), sum(count), sum(sum_l_row), sum(length(first_l_text))",
    sql: `(select id, count(*) as count, sum(l_row) as sum_l_row, first(l_text) as first_l_text from ${l} group by id)`,
  },
  hot: {
    files: ["hot_l", "hot_r"],
    args: (l, r) => ["join", l, r, "--on", "id", "--how", "semi"],
    sums: "count(*), sum(l_row), sum(id), sum(length(l_text))",
    sql: `${hot[0]} semi join ${hot[1]} using (id)`,
  },
};

async function makeFiles() {
  for (const [name, factor] of [
    ["l", 7919],
    ["r", 104729],
  ]) {
    for (const kind of calls.includes("hot") ? ["", "hot_"] : [""]) {
      const id = `(i * ${factor}) % ${2 * rows}`;
      const query = `select ${kind === "" ? id : `case when i % 4 = 0 then 7 else ${id} end`} as id, i as ${name}_row,
        hash(i) % 1000000 as ${name}_x, 'text ' || (i % 1000) as ${name}_text from range(${rows}) t(i)`;
      const path = file(kind + name, "parquet");
      await db.run(`copy (${query}) to '${path}' (row_group_size 122880)`);
      if (formats.includes("csv")) await db.run(`copy (${query}) to '${file(kind + name, "csv")}' (header)`);
      if (formats.includes("arrow")) await writeTable(file(kind + name, "arrow"), readBatches(path));
    }
  }
}

async function ask(sums, from) {
  return String((await db.runAndReadAll(`select ${sums} from ${from}`)).getRows());
}

/** Runs one call on files of one format, and compares its answer. */
async function measure(name, format) {
  const { files, args, sums, sql } = CALLS[name];
  const out = file("out", format);
  const call = [...args(...files.map((each) => file(each, format))), "--out", out];
  const within = ["--memory", `${limit}M`, "--tmp", folder, "--json"];
  const said = execFileSync(process.execPath, [join(root, "dist/cli/main.js"), ...call, ...within]);
  const { memory, seconds } = JSON.parse(said);
  const { peak, spilled, depth } = memory;
  const readable = format === "arrow" ? file("read", "parquet") : out;
  if (format === "arrow") await writeTable(readable, readBatches(out));
  const equal = (await ask(sums, `'${readable}'`)) === (await ask(sums, sql));
  const mib = (bytes) => Math.round(bytes / MIB);
  const told = { peakMiB: mib(peak), aboveLimitMiB: mib(peak) - limit, spilledMiB: mib(spilled), depth };
  console.log(
    JSON.stringify({ call: name, format, limitMiB: limit, rowsOfASide: rows, ...told, seconds, equal }),
  );
  return equal;
}

try {
  await makeFiles();
  for (const name of calls) {
    for (const format of formats) if (!(await measure(name, format))) process.exitCode = 1;
  }
} finally {
  rmSync(folder, { recursive: true });
}
