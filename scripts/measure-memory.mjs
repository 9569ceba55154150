// node scripts/measure-memory.mjs [MiB] [formats]: the peak memory of `warpmap join --memory` of two files, each four times that large in memory, beside
// DuckDB's answer. Needs dist. Prints one JSON object; exit status 1 where the answers differ.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { DuckDBInstance } from "@duckdb/node-api";

const MIB = 2 ** 20;
/** Of a row in memory: an int64 key, two int64 values, text of 8 bytes with its offset, a row number. */
const ROW_BYTES = 8 + 8 + 8 + 8 + 4 + 4;

const limit = Number(process.argv[2] ?? 64);
const formats = (process.argv[3] ?? "csv,parquet").split(",");
const root = resolve(fileURLToPath(import.meta.url), "../..");
const folder = mkdtempSync(join(tmpdir(), "warpmap-measure-"));
try {
  const rows = Math.ceil((4 * limit * MIB) / ROW_BYTES);
  const db = await (await DuckDBInstance.create(":memory:")).connect();
  const file = (name) => join(folder, name);
  for (const [name, factor] of [
    ["l", 7919],
    ["r", 104729],
  ]) {
    await db.run(
      `copy (select (i * ${factor}) % ${2 * rows} as id, i as ${name}_row, hash(i) % 1000000 as ${name}_x, 'text ' || (i % 1000) as ${name}_text
        from range(${rows}) t(i)) to '${file(`${name}.parquet`)}' (row_group_size 122880)`,
    );
  }
  const peaks = {};
  for (const format of formats) {
    const out = file(`joined.${format}`);
    const call = ["join", file("l.parquet"), file("r.parquet"), "--on", "id", "--out", out];
    const args = [...call, "--memory", `${limit}M`, "--tmp", folder, "--device", "cpu", "--json"];
    const answer = JSON.parse(execFileSync(process.execPath, [join(root, "dist/cli/main.js"), ...args]));
    peaks[format] = { ...answer.memory, seconds: answer.seconds, rows: answer.rows };
  }
  const sums = "count(*), sum(l_row), sum(r_row), sum(l_x + r_x), sum(length(l_text))";
  const ask = async (from) => String((await db.runAndReadAll(`select ${sums} from ${from}`)).getRows());
  const theirs = await ask(`'${file("l.parquet")}' join '${file("r.parquet")}' using (id)`);
  const ours = await Promise.all(formats.map((format) => ask(`'${file(`joined.${format}`)}'`)));
  const equal = ours.every((answer) => answer === theirs);
  const files = ["l", "r"].map((name) => statSync(file(`${name}.parquet`)).size);
  const above = Object.values(peaks).map(({ peak }) => Math.round(peak / MIB - limit));
  console.log(
    JSON.stringify({
      limitMiB: limit,
      rowsOfASide: rows,
      files,
      equal,
      aboveLimitMiB: above,
      ...peaks,
    }),
  );
  process.exitCode = equal ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true });
}
