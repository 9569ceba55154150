/**
 * What docs/larger-than-memory.md promises: the limit and 192 MiB at the peak, whatever the batches are like. Each call is a process of its own,
 * which tells its peak; all of them run in long runs, one in short ones.
 */
import { execFileSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { isLong } from "../helpers/rounds.js";

const MIB = 2 ** 20;
const LIMIT = 16; // MiB

/** Inputs as a program makes them: batches that come one after the other. */
const INPUTS = {
  "4,000 columns of 50 rows": `
    const [ROWS, C] = [50, 4000];
    const batches = function* (factor, letter) {
      const columns = { k: Int32Array.from({ length: ROWS }, (_, i) => i) };
      for (let c = 1; c < C; c++) columns[letter + c] = Int32Array.from({ length: ROWS }, (_, i) => (i * 7 + c) % 11);
      yield columns;
    };`,
  "1,000 columns of 4,000 rows": `
    const [ROWS, C] = [4000, 1000];
    const batches = function* (factor, letter) {
      for (let from = 0; from < ROWS; from += 100) {
        const columns = { k: Int32Array.from({ length: 100 }, (_, i) => ((from + i) * factor) % ROWS) };
        for (let c = 1; c < C; c++) columns[letter + c] = Int32Array.from({ length: 100 }, (_, i) => (i * 7 + c) % 11);
        yield columns;
      }
    };`,
  "40,000 batches of a row": `
    const ROWS = 40_000;
    const batches = function* (factor, letter) {
      for (let i = 0; i < ROWS; i++) yield { k: Int32Array.of((i * factor) % ROWS), [letter]: ["some text " + i] };
    };`,
  "strings of 100,000 bytes": `
    const ROWS = 1000;
    const batches = function* (factor, letter) {
      for (let i = 0; i < ROWS; i++) yield { k: Int32Array.of((i * factor) % ROWS), [letter]: [String(i).padEnd(100_000, "-")] };
    };`,
};

const CALLS = {
  join: 'join(batches(7919, "a"), batches(31, "b"), { on: ["k"], memory })',
  group: 'groupBy(batches(7919, "a"), { by: ["k"], aggregate: { n: count() }, memory })',
  distinct: 'distinct(batches(7919, "a"), { on: ["k"], memory })',
};

interface Told {
  readonly rows: number;
  readonly wanted: number;
  /** MiB. */
  readonly peak: number;
}

function run(input: string, call: string): Told {
  const library = new URL("../../dist/relational/index.js", import.meta.url).href;
  const program = `
    import { readFileSync } from "node:fs";
    const { count, distinct, groupBy, join } = await import("${library}");
    ${input}
    const memory = { limit: ${LIMIT * MIB} };
    let rows = 0;
    for await (const { numRows } of ${call}.batches()) rows += numRows;
    const linux = () => Number(/^VmHWM:\\s*(\\d+)/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
    const peak = (process.platform === "linux" ? linux() : process.resourceUsage().maxRSS) / 1024;
    console.log(JSON.stringify({ rows, wanted: ROWS, peak }));`;
  return JSON.parse(
    execFileSync(process.execPath, ["--input-type=module", "--eval", program], { encoding: "utf8" }),
  );
}

const cases = Object.entries(INPUTS).flatMap(([name, input]) =>
  Object.entries(CALLS).map(([call, text]) => [call, name, input, text] as const),
);

describe("the peak of a process is within its limit and 192 MiB", () => {
  it.each(isLong() ? cases : cases.slice(0, 1))("%s of %s", (_call, _name, input, call) => {
    const { rows, wanted, peak } = run(input, call);
    expect(rows).toBe(wanted);
    expect(peak).toBeLessThan(LIMIT + 192);
  });
});
