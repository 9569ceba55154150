/** Lists of the names of options, which the compiler compares with the options. Nothing here runs. */
import type { TableToPrepare } from "../../src/index.js";
import { checkOptions } from "../../src/options.js";
import type { IsInOptions } from "../../src/relational/index.js";

export function lists(options: { size?: number; signal?: AbortSignal; former?: number }) {
  checkOptions(options, "size signal former");
  checkOptions(options, "size signal", "former");
  // @ts-expect-error: no such option
  checkOptions(options, "size signal colour", "former");
  // @ts-expect-error: one is missing
  checkOptions(options, "size", "former");
}

// @ts-expect-error: isIn works in memory
export const isIn: IsInOptions = { memory: { limit: 2 ** 20 } };
// @ts-expect-error: preparing is not stopped
export const table: TableToPrepare = { key: "u32", capacity: 1, signal: AbortSignal.timeout(1) };
