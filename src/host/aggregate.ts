/**
 * Counts, sums and extremes by group on several threads. Columns and group numbers are copied to memory that workers
 * reach, where they are not there: a copy takes a small part of what an addition by group does.
 */

import type { Ordered } from "./extremes.js";
import { finishTask, type GroupTask, type GroupValues, placeTask, runTask } from "./group-tasks.js";
import type { LaneColumn } from "./lanes.js";
import type { HostPool } from "./pool.js";
import { type Elements, RowMemory } from "./row-memory.js";
import { shareColumns } from "./share-columns.js";
import type { Pause } from "./work.js";

/**
 * Counts, adds up and compares rows by group; answers the states of each task, which do not depend on threads.
 * @param host whose threads do it; null for the calling thread
 * @param pause lets the event loop run, and throws to stop
 * @throws LimitError when there is no memory for the states, DeviceLostError once the pool is destroyed
 */
export async function aggregate(
  host: HostPool | null,
  tasks: readonly GroupTask[],
  pause: Pause,
): Promise<readonly (readonly Float64Array[])[]> {
  host?.guard();
  const rows = tasks.reduce((most, { groupOf }) => Math.max(most, groupOf.length), 0);
  const memory = new RowMemory(host, rows);
  try {
    const made =
      host && memory.shared ? await runShared(host, tasks, rows, memory, pause) : await runHere(tasks, pause);
    host?.guard();
    return made;
  } finally {
    memory.release();
  }
}

async function runShared(
  host: HostPool,
  tasks: readonly GroupTask[],
  rows: number,
  memory: RowMemory,
  pause: Pause,
): Promise<Float64Array[][]> {
  const helpers = Math.min(Math.ceil(rows / host.rowsPerThread), host.threads) - 1;
  // every range goes over all rows: no more of them than occupy the threads
  const ranges = Math.ceil((helpers + 1) / tasks.length);
  const reached = new Reachable(memory);
  const placed = tasks.map(({ groupOf, groups, values }) => {
    const task = { groupOf: reached.array(groupOf), groups, values: reached.values(values) };
    return placeTask(task, ranges, (length) => memory.numbers(length));
  });
  await shareColumns(host, { kind: "aggregate", tasks: placed }, helpers, pause);
  return placed.map(finishTask);
}

async function runHere(tasks: readonly GroupTask[], pause: Pause): Promise<Float64Array[][]> {
  const made: Float64Array[][] = [];
  for (const task of tasks) {
    made.push(runTask(task));
    await pause();
  }
  return made;
}

/** Arrays in memory that workers reach; each is copied once. */
class Reachable {
  readonly #copies = new Map<object, object>();

  constructor(private readonly memory: RowMemory) {}

  values(values: GroupValues): GroupValues {
    if (values.kind === "extremes") return { ...values, ordered: this.ordered(values.ordered) };
    const { column } = values;
    const validity = column.validity && this.array(column.validity);
    if (column.kind === "rows") return { kind: "sums", column: { ...column, validity } };
    return { kind: "sums", column: { ...column, data: this.array(column.data), validity } as LaneColumn };
  }

  ordered(ordered: Ordered): Ordered {
    if (ordered.kind !== "strings") return { ...ordered, data: this.array(ordered.data) } as Ordered;
    const { starts, ends, bytes } = ordered.strings;
    const strings = { starts: this.array(starts), ends: this.array(ends), bytes: this.array(bytes) };
    return { kind: "strings", strings };
  }

  array<A extends Elements>(array: A): A {
    if (array.buffer instanceof SharedArrayBuffer) return array;
    const known = this.#copies.get(array);
    if (known) return known as A;
    const { buffer } = this.memory.words(Math.ceil(array.byteLength / 4));
    const Class = array.constructor as new (buffer: ArrayBufferLike, offset: number, length: number) => A;
    const copy = new Class(buffer, 0, array.length);
    copy.set(array);
    this.#copies.set(array, copy);
    return copy;
  }
}
