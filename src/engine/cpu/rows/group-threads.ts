/**
 * Counts, sums and extremes by group on several threads. Columns and group numbers are copied to memory that workers reach, where they are not
 * there: a copy takes a small part of what an addition by group does.
 */
import type { Ordered } from "../../extremes.js";
import { finishTask, type GroupTask, type GroupValues, placeTask, runTasksHere } from "../../group-tasks.js";
import type { RowMemory } from "./row-memory.js";
import type { Pause, RowThreads } from "./row-threads.js";

/** Runs tasks; answers the states of each. */
export async function runGroupTasks(
  tasks: readonly GroupTask[],
  threads: RowThreads,
  pause: Pause,
): Promise<readonly Float64Array[][]> {
  const rows = tasks.reduce((most, { groupOf }) => Math.max(most, groupOf.length), 0);
  const memory = threads.memory(rows);
  try {
    if (!memory.shared) return await runTasksHere(tasks, pause);
    const helpers = Math.ceil(rows / threads.tuning.share) - 1;
    const workers = Math.min(helpers, (threads.pool?.threads ?? 1) - 1) + 1;
    // every range goes over all rows: no more of them than occupy the threads
    const ranges = Math.ceil(workers / tasks.length);
    const reached = new Reachable(memory);
    const placed = tasks.map(({ groupOf, groups, values }) => {
      const task = { groupOf: reached.array(groupOf), groups, values: reached.values(values) };
      return placeTask(task, ranges, (length) => memory.numbers(length));
    });
    await threads.run({ kind: "group", tasks: placed }, helpers, pause);
    return placed.map(finishTask);
  } finally {
    memory.release();
  }
}

type TypedArray = Uint8Array | Int32Array | Uint32Array | Float32Array | Float64Array;

/** Arrays in memory that workers reach; each is copied once. */
class Reachable {
  readonly #copies = new Map<object, object>();

  constructor(private readonly memory: RowMemory) {}

  values(values: GroupValues): GroupValues {
    if (values.kind === "rows") return values;
    if (values.kind === "extremes") return { ...values, ordered: this.ordered(values.ordered) };
    return { ...values, data: this.array(values.data) } as GroupValues;
  }

  ordered(ordered: Ordered): Ordered {
    if (ordered.kind !== "strings") return { ...ordered, data: this.array(ordered.data) } as Ordered;
    const { starts, ends, bytes } = ordered.strings;
    const [from, to] = [this.array(starts), this.array(ends)];
    // nulls are in no group
    const strings = {
      kind: "bytes",
      starts: from,
      ends: to,
      bytes: this.array(bytes),
      validity: null,
    } as const;
    return { kind: "strings", strings };
  }

  array<A extends TypedArray>(array: A): A {
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
