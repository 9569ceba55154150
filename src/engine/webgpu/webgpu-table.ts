/**
 * A table on the GPU: the engine's operations over whole batches. A batch is bound chunk by chunk and its results are
 * gathered here; what happens to a chunk is in insert-chunk.ts, lookup-chunk.ts and erase-chunk.ts, the probes over all slots
 * in table-scans.ts.
 */
import type {
  CallOptions,
  Destination,
  Input,
  InsertPolicy,
  InsertTally,
  Output,
  Table,
  TableStats,
} from "../engine.js";
import type { TableSpec } from "../layout.js";
import { type KeyType, type ValueType, wordsOf } from "../scalars.js";
import { type Batch, eachChunk } from "./batch/batches.js";
import type { Column } from "./batch/columns.js";
import { resultColumns } from "./batch/results.js";
import { eraseChunk } from "./direct/erase.js";
import { FullTable } from "./direct/full-table.js";
import { insertChunk, needsRoomForAll } from "./direct/insert.js";
import { clearFlags, lookUpChunk } from "./direct/look-up.js";
import { type BoundChunk, groupSizeAt, loadBulk, loadScans, reserveWorklists } from "./direct/rounds.js";
import { WORKLIST_BYTES } from "./direct/worklist.js";
import { type Choice, type Operation, plan } from "./partitioned/planner.js";
import type { ResultColumns } from "./partitioned/unpermute.js";
import type { TableState } from "./table/table-state.js";

export class WebgpuTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  constructor(private readonly state: TableState) {}

  get spec(): TableSpec {
    return this.state.spec;
  }

  get live(): number {
    return this.state.live;
  }

  get gpu(): { slots: GPUBuffer; control: GPUBuffer; maxBinding: number } {
    const { buffers, host } = this.state;
    return { ...buffers, maxBinding: host.maxTableBinding };
  }

  async insert(
    keys: Input<K>,
    values: Input<V> | null,
    policy: InsertPolicy,
    call: CallOptions,
  ): Promise<InsertTally> {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const bytes = needsRoomForAll(this.state, policy) ? WORKLIST_BYTES : 4;
    const batch = { keys, values, where: call.where, bytes, plan: this.#planner("insert", call) };
    await this.#withFullTable((full) =>
      eachChunk(this.state, `insert ${policy}`, batch, call, "device", async (chunk) => {
        addTally(tally, await this.#insertChunk(chunk, policy, call, full));
      }),
    );
    return tally;
  }

  async insertAndFind(
    keys: Input<K>,
    values: Input<V> | null,
    output: Destination,
    call: CallOptions,
  ): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }> {
    const { host, spec } = this.state;
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const results = await resultColumns(host, keys.length, output, ["u8", spec.value as V | null]);
    const [flags, stored] = results.columns;
    const plan = this.#planner("insertAndFind", call);
    const batch = { keys, values, where: call.where, plan };
    const insertAndFind = (full: FullTable) =>
      eachChunk(this.state, "insertAndFind", batch, call, output, async (chunk, readBack) => {
        const { scratch } = chunk;
        const to = {
          flags: await flags.bind(scratch, chunk),
          values: stored === null ? undefined : await stored.bind(scratch, chunk),
        };
        const bulk = await this.#take(await plan(chunk.count), chunk, call);
        const sorted = await bulk?.inPartitions(this.state, chunk, to, call.log, "partitions");
        const at = sorted ?? { ...chunk, flags: to.flags };
        const inserted = at.flags as Column;
        await host.gpu.submit("clear flags", (encoder) => clearFlags(encoder, inserted, at.count));
        addTally(tally, await insertChunk(this.state, at, "keep", full));
        const reads = flags.readback(to.flags, chunk);
        if (stored === null || to.values === undefined) {
          return readBack(reads, (now) => host.gpu.submit("flags", (encoder) => at.finish?.(encoder), now));
        }
        reads.push(...stored.readback(to.values, chunk));
        const mask = at.present ?? at.mask;
        const values = sorted ? sorted.values : to.values;
        const found = { ...at, mask, values, flags: undefined };
        return readBack(reads, (now) => lookUpChunk(this.state, found, [], now));
      });
    await results.keepUnlessThrown(() => this.#withFullTable(insertAndFind));
    return { ...tally, values: (stored?.output ?? null) as Output<V> | null, insertedFlags: flags.output };
  }

  async find(
    keys: Input<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: Output<V>; found: Output<"u8"> }> {
    const { host, spec } = this.state;
    const type = (spec.value ?? spec.key) as V;
    const results = await resultColumns(host, keys.length, output, [type, "u8"]);
    const [values, flags] = results.columns;
    const fill = wordsOf(type, missing);
    await results.keepUnlessThrown(() =>
      eachChunk(this.state, "find", this.#lookups(keys, call), call, output, async (chunk, readBack) => {
        const to = {
          values: await values.bind(chunk.scratch, chunk),
          flags: await flags.bind(chunk.scratch, chunk),
        };
        const reads = [...values.readback(to.values, chunk), ...flags.readback(to.flags, chunk)];
        const at = await this.#toLookUp(chunk, { fill: fill[0], ...to }, call);
        await readBack(reads, (now) => lookUpChunk(this.state, at, fill, now));
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    const results = await resultColumns(this.state.host, keys.length, output, ["u8", null]);
    const [flags] = results.columns;
    await results.keepUnlessThrown(() =>
      eachChunk(this.state, "contains", this.#lookups(keys, call), call, output, async (chunk, readBack) => {
        const to = { flags: await flags.bind(chunk.scratch, chunk) };
        const reads = flags.readback(to.flags, chunk);
        const at = await this.#toLookUp(chunk, to, call);
        await readBack(reads, (now) => lookUpChunk(this.state, at, [], now));
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let erased = 0;
    const plan = this.#planner("erase", call);
    await eachChunk(this.state, "erase", { keys, where: call.where, plan }, call, "device", async (chunk) => {
      erased += await this.#eraseChunk(chunk, call);
    });
    return erased;
  }

  async retrieveAll(
    output: Destination,
    call: CallOptions,
  ): Promise<{ keys: Output<K>; values: Output<V> | null }> {
    return (await loadScans()).retrieveAll(this.state, output, call);
  }

  clear(): Promise<void> {
    return this.state.clear();
  }

  async stats(): Promise<TableStats> {
    return (await import("./scan/statistics.js")).stats(this.state);
  }

  destroy(): void {
    this.state.destroy();
  }

  /** Inserts a chunk in the way that the planner chooses. */
  async #insertChunk(
    chunk: BoundChunk,
    policy: InsertPolicy,
    call: CallOptions,
    full: FullTable,
  ): Promise<InsertTally> {
    const { state } = this;
    const choice = await plan("insert", state, chunk.count, call);
    const bulk = await this.#take(choice, chunk, call);
    if (bulk && choice.strategy === "pages") {
      const tally = await bulk.buildPages(state, chunk, policy, full);
      if (tally) return tally;
    }
    return insertChunk(
      state,
      (await bulk?.inPartitions(state, chunk, {}, call.log, choice.strategy)) ?? chunk,
      policy,
      full,
    );
  }

  async #eraseChunk(chunk: BoundChunk, call: CallOptions): Promise<number> {
    const { state } = this;
    const choice = await plan("erase", state, chunk.count, call);
    const bulk = await this.#take(choice, chunk, call);
    const erased = bulk && choice.strategy === "pages" ? await bulk.erasePages(state, chunk) : null;
    return (
      erased ??
      eraseChunk(state, (await bulk?.inPartitions(state, chunk, {}, call.log, choice.strategy)) ?? chunk)
    );
  }

  /** Runs an insert call with what its chunks share when the table is full. */
  async #withFullTable(insert: (full: FullTable) => Promise<void>): Promise<void> {
    const full = new FullTable(this.state);
    try {
      await insert(full);
    } finally {
      full.destroy();
    }
  }

  #planner(operation: Operation, call: CallOptions): (count: number) => Promise<Choice> {
    return (count) => plan(operation, this.state, count, call);
  }

  #lookups(keys: Input<K>, call: CallOptions): Batch<K, V> {
    return { keys, where: call.where, plan: this.#planner("find", call) };
  }

  /** A chunk to look up, in the order that the planner chooses. */
  async #toLookUp(chunk: BoundChunk, results: ResultColumns, call: CallOptions): Promise<BoundChunk> {
    const { state } = this;
    const choice = await plan("find", state, chunk.count, call);
    const bulk = await this.#take(choice, chunk, call, true);
    const { values, flags } = results;
    const byPages =
      bulk && choice.strategy === "pages" ? await bulk.inPages(state, chunk, results, call.log) : null;
    return (
      byPages ??
      (await bulk?.inPartitions(state, chunk, results, call.log, choice.strategy, true)) ?? {
        ...chunk,
        values,
        flags,
      }
    );
  }

  /** Notes the planner's choice, and loads and reserves what it takes: null for the direct strategy. */
  async #take(
    { strategy, reason }: Choice,
    chunk: BoundChunk,
    { log, groupSize }: CallOptions,
    looksUp = false,
  ): Promise<Bulk | null> {
    const { state } = this;
    const bulk = strategy === "direct" ? null : await loadBulk();
    if (bulk) await reserveWorklists(state, chunk);
    log?.correctChunk({
      strategy: bulk ? "partitioned" : "direct",
      reason,
      groupSize: groupSize ?? groupSizeAt(state, looksUp),
      ...(bulk && strategy !== "direct" && bulk.shapeOf(state, strategy, looksUp)),
    });
    return bulk;
  }
}

type Bulk = typeof import("./partitioned/partitioned.js");

function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}
