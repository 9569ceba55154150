// What benchmarks of several GPUs share: columns, times of calls that take turns, reports.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";

/** An odd factor: different keys, spread over all of 32 bits. */
export const keyOf = (i) => Math.imul(i, 0x9e3779b1) >>> 0;

/** A column by the numbers of its rows. */
export function columnOf(Elements, length, elementAt) {
  const column = new Elements(length);
  for (let i = 0; i < length; i++) column[i] = elementAt(i);
  return column;
}

/** The median times of a call on each of some things, which take turns, after `warm` calls that are not timed. */
export async function medians(each, work, { runs, warm, before = async () => {} }) {
  const times = each.map(() => []);
  for (let run = -warm; run < runs; run++) {
    for (const [i, on] of each.entries()) {
      await before(on);
      const start = performance.now();
      await work(on);
      if (run >= 0) times[i].push(performance.now() - start);
    }
  }
  return times.map((list) => list.sort((a, b) => a - b)[Math.floor(runs / 2)]);
}

/** Prints rows of numbers. */
export function printRows(rows) {
  console.table(
    rows.map((row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, v.toFixed?.(3) ?? v]))),
  );
}

/** Writes what was measured, in ms, to a file if one is asked for. */
export function report(file, bench, { name, hardware }, measured) {
  if (!file) return;
  const commit =
    process.env.WARPMAP_COMMIT ?? execFileSync("git", ["rev-parse", "--short=12", "HEAD"]).toString().trim();
  const { driver } = hardware;
  writeFileSync(file, `${JSON.stringify({ bench, gpus: name, driver, commit, ...measured }, null, 2)}\n`);
}
