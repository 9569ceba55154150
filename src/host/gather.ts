/**
 * Gather tasks on several threads. Each is done by one thread, into memory of its own that is then handed over: results
 * belong to the user, and shared memory is not what every API takes. Source columns must be in shared memory for that,
 * so those that are not larger than what is gathered from them are copied there; of others the calling thread gathers
 * alone.
 */

import { type GatherSource, type GatherTask, gatherBuffers } from "./gather-buffers.js";
import type { HostPool } from "./pool.js";
import { RowMemory } from "./row-memory.js";
import { shareColumns } from "./share-columns.js";
import type { Pause } from "./work.js";

/** Tasks with the same source, by their numbers in the call. */
interface Column {
  readonly source: GatherSource;
  readonly numbers: number[];
  rows: number;
}

/**
 * Gathers columns by row numbers; answers the buffers of each task.
 * @param host whose threads do it; null for the calling thread
 * @param pause lets the event loop run, and throws to stop
 * @throws LimitError when strings outgrow their offsets, DeviceLostError once the pool is destroyed
 */
export async function gather(
  host: HostPool | null,
  tasks: readonly GatherTask[],
  pause: Pause,
): Promise<readonly (readonly ArrayBuffer[])[]> {
  host?.guard();
  const rows = tasks.reduce((sum, task) => sum + task.rows.length, 0);
  const memory = new RowMemory(host, rows);
  try {
    const own = new Set(tasks.keys());
    const shared: { number: number; task: GatherTask }[] = [];
    for (const { source, numbers, rows } of memory.shared ? columnsOf(tasks) : []) {
      const together = numbers.filter((number) => memory.reaches(tasks[number].rows));
      if (together.length === 0 || sizeOf(source) > (sizeOf(source) / valuesOf(source)) * rows) continue;
      const copy = reachable(source, memory);
      for (const number of together) {
        own.delete(number);
        shared.push({ number, task: { source: copy, rows: tasks[number].rows } });
      }
    }
    const made: (readonly ArrayBuffer[])[] = [];
    const gatherOwn = async () => {
      for (const number of own) {
        made[number] = gatherBuffers(tasks[number]);
        await pause();
      }
    };
    if (host === null || shared.length === 0) await gatherOwn();
    else {
      const job = { kind: "gather", tasks: shared.map(({ task }) => task) } as const;
      const helpers = shared.length - (own.size > 0 ? 0 : 1);
      const results = await shareColumns(host, job, helpers, pause, gatherOwn);
      for (const { task, buffers } of results.flatMap((result) => result.made))
        made[shared[task].number] = buffers;
    }
    host?.guard();
    return made;
  } finally {
    memory.release();
  }
}

/** Columns with the most to gather first, so that threads end together. */
function columnsOf(tasks: readonly GatherTask[]): Column[] {
  const columns = new Map<object, Column>();
  for (const [number, { source, rows }] of tasks.entries()) {
    const key = valuesIn(source);
    const column = columns.get(key) ?? { source, numbers: [], rows: 0 };
    columns.set(key, column);
    column.numbers.push(number);
    column.rows += rows.length;
  }
  const bytes = ({ source, rows }: Column) => (sizeOf(source) / valuesOf(source)) * rows;
  return [...columns.values()].sort((a, b) => bytes(b) - bytes(a));
}

/** The array by which a source is known. */
function valuesIn(source: GatherSource): Uint8Array | Uint32Array {
  if (source.kind === "fixed") return source.data;
  return source.kind === "bits" ? source.bits : source.offsets;
}

function sizeOf(source: GatherSource): number {
  if (source.kind !== "strings") return valuesIn(source).length;
  const { offsets } = source;
  return offsets.byteLength + offsets[offsets.length - 1] - offsets[0];
}

/** Values of a source; at least 1. */
function valuesOf(source: GatherSource): number {
  if (source.kind === "fixed") return Math.max(1, source.data.length / source.width);
  return Math.max(1, source.kind === "bits" ? source.bits.length * 8 : source.offsets.length - 1);
}

/** The source in memory that workers reach. */
function reachable(source: GatherSource, memory: RowMemory): GatherSource {
  switch (source.kind) {
    case "fixed":
      return { ...source, data: memory.reachable(source.data) };
    case "bits":
      return { ...source, bits: memory.reachable(source.bits) };
    case "strings": {
      const { offsets, bytes } = source;
      return { ...source, offsets: memory.reachable(offsets), bytes: memory.reachable(bytes) };
    }
  }
}
