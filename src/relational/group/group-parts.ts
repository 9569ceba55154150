/**
 * Groups of a file's rows that are decoded and grouped by the same thread, part by part: the calling thread brings the
 * parts' bytes and merges their groups, so only groups and a few parts are in memory. Where parts hardly have fewer
 * groups than rows, or an aggregate needs all values, rows come in large tables, which all threads group together.
 */
import type { Table } from "@uwdata/flechette";
import { readTable } from "../../arrow/columns.js";
import type { FilePart, FileParts } from "../../arrow/file-parts.js";
import type { Device } from "../../device.js";
import { GarbageBound } from "../../host/garbage.js";
import { inOrder, type Job } from "../../host/in-order.js";
import type { HostPool, TaskKind } from "../../host/pool.js";
import { COLUMN_STATES, type GroupStates, openSource } from "../aggregate/group-states.js";
import {
  arePartial,
  type GroupedPart,
  groupPart,
  type PartGrouping,
  type PartStates,
  plainStates,
  receivedStates,
  takeWeights,
} from "../aggregate/part-states.js";
import { type Grouping, StatesSum } from "./grouping.js";

const GROUP_PARTS: TaskKind<GroupedPart, PartStates> = {
  name: "group parts",
  script: () => import("./parts-worker.ts?worker-source"),
  covers: ["parquet-read"],
};

/**
 * Starts workers for the parts of a file, and for what comes after them.
 * @param more kinds of tasks that they are to do besides
 */
export async function startWorkers(
  device: Device,
  more: readonly TaskKind<never, unknown>[] = [],
): Promise<void> {
  const host = await device.host();
  const { tasks = [] } = await device.engine.rows();
  void host.warmUp([GROUP_PARTS, ...tasks, ...more]);
}

/** How a file is cut. */
interface PartsTuning {
  /** Rows of a part, about: what is decoded of them stays in the caches. */
  readonly part: number;
  /** The same where the last one came merged: a part costs a millisecond whatever it has. */
  readonly merged: number;
  /** Rows of a file that are worth other threads: with fewer the calling one is done when they are up. */
  readonly shared: number;
  /** Rows of a table that all threads group. */
  readonly table: number;
  /** Groups of parts that wait to be merged: the more at once, the less often a key is grouped. */
  readonly waiting: number;
}

const TUNING: PartsTuning = {
  part: 2 ** 17,
  merged: 2 ** 20,
  shared: 2 ** 20,
  table: 2 ** 25,
  waiting: 2 ** 21,
};

/** Bytes of arrays of parts that are done here. */
const GARBAGE_BYTES = 2 ** 24;
/** Groups for a row of a part: where there are more, parts are not grouped by themselves. */
const MOST_GROUPS = 0.5;

/** The groups of a file's rows. Ends the parts. @throws as `groupBy`, and as who reads the file */
export async function groupParts(
  grouping: Grouping,
  parts: FileParts,
  tuning: PartsTuning = TUNING,
): Promise<Table> {
  try {
    return await new PartsGrouping(grouping, parts, await grouping.call.begin(), tuning).table();
  } finally {
    await parts.close();
  }
}

class PartsGrouping {
  readonly #sum: StatesSum;
  #waiting: GroupStates[] = [];
  #rows = 0;
  #isDense: boolean;
  #isMerged = false;
  readonly #asked: PartGrouping;
  readonly #garbage = new GarbageBound(GARBAGE_BYTES);

  constructor(
    readonly grouping: Grouping,
    readonly parts: FileParts,
    readonly device: Device,
    readonly tuning: PartsTuning,
  ) {
    this.#sum = new StatesSum(grouping);
    const { by, aggregates } = grouping;
    this.#isDense = !arePartial(aggregates);
    const like = openSource(readTable(parts.like, ""), by, aggregates);
    this.#asked = { by, aggregates, merges: takeWeights(like, aggregates) };
  }

  async table(): Promise<Table> {
    const { grouping, parts, device } = this;
    const { call } = grouping;
    const host = await device.host();
    const threads = parts.isForAll && parts.rows > this.tuning.shared ? host.threads : 1;
    await this.#sparse(host, threads);
    call.endStage("group rows");
    for (;;) {
      const table = await parts.table(this.tuning.table, threads);
      if (table === null) break;
      this.#garbage.check(); // bytes of the file
      await this.#read(table);
    }
    if (this.#rows === 0) await this.#read(parts.like);
    await this.#merge();
    return call.onSlot(device, [], async () => grouping.finish({ device, states: await this.#sum.merged() }));
  }

  /** Groups a table by all threads. */
  async #read(table: Table): Promise<void> {
    const { grouping, device } = this;
    // nothing is merged with the groups of all rows, and so nothing more is held than they are made of
    const kinds = table.numRows === this.parts.rows ? COLUMN_STATES : undefined;
    const read = async () => plainStates((await grouping.read(table)).states.own(kinds));
    await this.#add(await grouping.call.onSlot(device, [], read), table.numRows);
  }

  /** Groups parts by themselves as long as that is worth it, which the first and least one says. */
  async #sparse(host: HostPool, threads: number): Promise<void> {
    if (this.#isDense) return;
    const { parts, grouping } = this;
    const kind = { ...GROUP_PARTS, errors: parts.errors };
    if (threads > 1) await startWorkers(this.device);
    const first = await parts.next(1);
    const made = first && (await this.#here(first));
    if (made && isDense(made)) {
      // merging its groups with so many others costs more than its rows
      this.#isDense = true;
      parts.restart();
      return;
    }
    if (made) await this.#take(made);
    const options = { threads, pool: host, signal: grouping.call.options.signal };
    for await (const part of inOrder(kind, this.#jobs(), options)) await this.#take(part);
  }

  /** Of those that are done here there is one at a time. */
  async *#jobs(): AsyncGenerator<Job<GroupedPart, PartStates>> {
    const { tuning } = this;
    let here: Promise<unknown> | undefined;
    const next = async () =>
      this.#isDense ? null : this.parts.next(this.#isMerged ? tuning.merged : tuning.part);
    let coming = next();
    for (let part = await coming; part !== null; part = await coming) {
      const { data, transfer } = part;
      coming = next(); // while this one is worked on
      coming.catch(() => {});
      yield {
        here: () => {
          const made = this.#here(part);
          here = made.catch(() => {});
          return made;
        },
        pack: () => ({ input: { data, grouping: this.#asked }, transfer }),
      };
      await here;
    }
  }

  async #here(part: FilePart): Promise<PartStates> {
    const { grouping, parts, device } = this;
    const { sumGroups } = await device.engine.rows();
    const sum = sumGroups as NonNullable<typeof sumGroups>;
    const rows = await parts.decode(part, this.#asked.merges);
    const made = await groupPart(rows, this.#asked, sum, grouping.call.options.signal);
    this.#garbage.check();
    return made;
  }

  async #take(part: PartStates): Promise<void> {
    this.#isMerged = part.isMerged === true;
    this.#isDense ||= isDense(part);
    await this.#add(receivedStates(part, readTable(this.parts.like, ""), this.grouping.by), part.rows);
  }

  async #add(states: GroupStates, rows: number): Promise<void> {
    const { grouping, parts } = this;
    this.#waiting.push(states);
    this.#rows += rows;
    grouping.call.options.onProgress?.(this.#rows, parts.rows);
    if (this.#waiting.reduce((sum, { groups }) => sum + groups, 0) > this.tuning.waiting) await this.#merge();
  }

  async #merge(): Promise<void> {
    const waiting = this.#waiting;
    this.#waiting = [];
    await this.grouping.call.onSlot(this.device, [], () => this.#sum.add(waiting));
  }
}

function isDense({ groups, rows }: PartStates): boolean {
  return groups > MOST_GROUPS * rows;
}
