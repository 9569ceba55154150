/** The answer of a run: the parts of a folder, a file, or parts that stay with the exchange until they are read. */
import { stat } from "node:fs/promises";
import type { Table } from "@uwdata/flechette";
import { writeTable } from "warpmap/io";
import { readTable } from "warpmap/stages";
import type { Exchange } from "./exchange.js";
import { type Part, partsOf } from "./run/output.js";
import type { Ran, RunCall } from "./run/run.js";
import type { StageReport } from "./run/stages.js";
import { ARROW } from "./worker/run-job.js";

/** What a cluster answers. */
export interface ClusterResult {
  readonly rows: number;
  readonly columns: readonly string[];
  /** Files of the folder `out`; one where `out` is a file; none without. */
  readonly parts: readonly Part[];
  /** What each stage took. */
  readonly stages: readonly StageReport[];
  readonly partitions: number;
  /** The rows, without `out`: may be read once, and are gone afterwards. */
  batches(): AsyncGenerator<Table, void, undefined>;
  /** Removes rows that are not read. */
  close(): Promise<void>;
}

/** @param clear removes all files of the run */
export async function resultOf(
  { plan, results, reports, folder }: Ran,
  { out, signal }: RunCall,
  exchange: Exchange,
  clear: () => Promise<void>,
): Promise<ClusterResult> {
  const made = partsOf(results);
  const rows = made.reduce((sum, part) => sum + part.rows, 0);
  const { columns = [] } = results[0];
  async function* tables() {
    for (const { file } of made) {
      signal?.throwIfAborted();
      yield await readTable(await exchange.read(file), ARROW);
    }
  }
  const base = { rows, columns, stages: reports, partitions: plan.partitions };
  if (folder) {
    const { parts } = await folder.commit(columns, results).catch(async (error) => {
      await folder.withdraw();
      throw error;
    });
    await clear();
    return { ...base, parts, batches: async function* () {}, close: async () => {} };
  }
  if (out !== undefined) {
    await writeTable(out, tables(), { signal });
    await clear();
    const { size: bytes } = await stat(out);
    return {
      ...base,
      parts: [{ file: out, rows, bytes }],
      batches: async function* () {},
      close: async () => {},
    };
  }
  return {
    ...base,
    parts: [],
    async *batches() {
      try {
        yield* tables();
      } finally {
        await clear();
      }
    },
    close: clear,
  };
}
