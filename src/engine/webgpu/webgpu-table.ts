/**
 * A table on the GPU: the engine's operations over whole batches. A batch is bound chunk by chunk and its results are
 * gathered here; what happens to a chunk is in insert-chunk.ts, lookup-chunk.ts and erase-chunk.ts, the walks over all slots
 * in table-scans.ts.
 */
import type {
  CallOptions,
  Input,
  InsertPolicy,
  InsertTally,
  Output,
  Placement,
  Table,
  TableStats,
} from "../engine.js";
import type { TableSpec } from "../layout.js";
import { bitsOf, type KeyType, type ValueType } from "../scalars.js";
import { type BoundChunk, groupSizeAt } from "./chunk-rounds.js";
import { forEachChunk } from "./chunks.js";
import { type Chunk, Scratch } from "./columns.js";
import { eraseChunk } from "./erase-chunk.js";
import { FullTable } from "./full-table.js";
import { insertChunk, needsRoomForAll } from "./insert-chunk.js";
import { clearFlags, lookUpChunk } from "./lookup-chunk.js";
import type { ResultColumns } from "./partitioned-chunk.js";
import { type Choice, planErase, planInsert, planLookup } from "./planner.js";
import { resultColumns } from "./results.js";
import { LIST_BYTES } from "./selection.js";
import { retrieveAll, stats } from "./table-scans.js";
import type { TableState } from "./table-state.js";
import { Trace } from "./trace.js";

/** The input columns of a call. */
interface Batch<K extends KeyType, V extends ValueType> {
  keys: Input<K>;
  values?: Input<V> | null;
  where?: Input<"u8">;
  /** Bytes that an element takes in the widest range that is bound. */
  bytes?: number;
  /** What the planner would choose for so many of its elements, for operations that may be partitioned. */
  plan?: (count: number) => Choice;
}

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
    const bytes = needsRoomForAll(this.state, policy) ? LIST_BYTES : 4;
    const plan = (count: number) => planInsert(this.state, count, policy, call);
    const batch = { keys, values, where: call.where, bytes, plan };
    await this.#withFullTable((full) =>
      this.#eachChunk(`insert ${policy}`, batch, call, "device", async (chunk) => {
        addTally(tally, await this.#insertChunk(chunk, policy, call, full));
      }),
    );
    return tally;
  }

  async insertAndFind(
    keys: Input<K>,
    values: Input<V> | null,
    output: Placement,
    call: CallOptions,
  ): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }> {
    const { host, spec } = this.state;
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const results = await resultColumns(host, keys.length, output, ["u8", spec.value as V | null]);
    const [flags, stored] = results.columns;
    const batch = { keys, values, where: call.where };
    const insertAndFind = (full: FullTable) =>
      this.#eachChunk("insertAndFind", batch, call, output, async (chunk) => {
        const inserted = await flags.bind(chunk.scratch, chunk);
        chunk.flags = inserted;
        await this.#take({ way: "direct", reason: "each element answers for itself where it is" }, call);
        await host.gpu.submit("clear flags", (encoder) => clearFlags(encoder, inserted, chunk.count));
        addTally(tally, await insertChunk(this.state, chunk, "keep", full));
        const reads = flags.readback(inserted, chunk);
        if (stored === null) return host.gpu.submit("flags", () => {}, reads);
        const mask = chunk.present ?? chunk.mask;
        const at = { ...chunk, mask, values: await stored.bind(chunk.scratch, chunk), flags: undefined };
        return lookUpChunk(this.state, at, 0, [...reads, ...stored.readback(at.values, chunk)]);
      });
    await results.keepUnlessThrown(() => this.#withFullTable(insertAndFind));
    return { ...tally, values: (stored?.output ?? null) as Output<V> | null, insertedFlags: flags.output };
  }

  async find(
    keys: Input<K>,
    missing: number,
    output: Placement,
    call: CallOptions,
  ): Promise<{ values: Output<V>; found: Output<"u8"> }> {
    const { host, spec } = this.state;
    const type = (spec.value ?? spec.key) as V;
    const results = await resultColumns(host, keys.length, output, [type, "u8"]);
    const [values, flags] = results.columns;
    const fill = bitsOf(type, missing);
    await results.keepUnlessThrown(() =>
      this.#eachChunk("find", this.#lookups(keys, call), call, output, async (chunk) => {
        const at = {
          ...chunk,
          values: await values.bind(chunk.scratch, chunk),
          flags: await flags.bind(chunk.scratch, chunk),
        };
        const reads = [...values.readback(at.values, chunk), ...flags.readback(at.flags, chunk)];
        await lookUpChunk(this.state, await this.#sorted(at, { fill, ...at }, call), fill, reads);
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Placement, call: CallOptions): Promise<Output<"u8">> {
    const results = await resultColumns(this.state.host, keys.length, output, ["u8", null]);
    const [flags] = results.columns;
    await results.keepUnlessThrown(() =>
      this.#eachChunk("contains", this.#lookups(keys, call), call, output, async (chunk) => {
        const at = { ...chunk, flags: await flags.bind(chunk.scratch, chunk) };
        const reads = flags.readback(at.flags, chunk);
        await lookUpChunk(this.state, await this.#sorted(at, at, call), 0, reads);
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let erased = 0;
    const plan = (count: number) => planErase(this.state, count, call);
    await this.#eachChunk("erase", { keys, where: call.where, plan }, call, "device", async (chunk) => {
      erased += await this.#eraseChunk(chunk, call);
    });
    return erased;
  }

  retrieveAll(output: Placement, call: CallOptions): Promise<{ keys: Output<K>; values: Output<V> | null }> {
    return retrieveAll(this.state, output, call);
  }

  clear(): Promise<void> {
    return this.state.clear();
  }

  stats(): Promise<TableStats> {
    return stats(this.state);
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
    const choice = planInsert(state, chunk.count, policy, call);
    const bulk = await this.#take(choice, call);
    if (choice.way === "pages" && bulk?.pagesFit(state, chunk.count))
      return bulk.buildPages(state, chunk, policy as "keep" | "assign", full);
    return insertChunk(state, bulk ? await bulk.partitioned(state, chunk, {}) : chunk, policy, full);
  }

  async #eraseChunk(chunk: BoundChunk, call: CallOptions): Promise<number> {
    const { state } = this;
    const choice = planErase(state, chunk.count, call);
    const bulk = await this.#take(choice, call);
    if (choice.way === "pages" && bulk?.pagesFit(state, chunk.count)) return bulk.erasePages(state, chunk);
    return eraseChunk(state, bulk ? await bulk.partitioned(state, chunk, {}) : chunk);
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

  #lookups(keys: Input<K>, call: CallOptions): Batch<K, V> {
    return { keys, where: call.where, plan: (count) => planLookup(this.state, count, call) };
  }

  /** A chunk to look up, in the order that the planner chooses. */
  async #sorted(chunk: BoundChunk, results: ResultColumns, call: CallOptions): Promise<BoundChunk> {
    const bulk = await this.#take(planLookup(this.state, chunk.count, call), call, true);
    return bulk ? bulk.partitioned(this.state, chunk, results) : chunk;
  }

  /** Notes the planner's choice, and loads what it takes: null for the direct strategy. */
  async #take(
    { way, reason }: Choice,
    { log, groupSize }: CallOptions,
    looksUp = false,
  ): Promise<Bulk | null> {
    const { state } = this;
    const bulk = way === "direct" ? null : await loadBulk();
    if (log) {
      log.strategy = bulk ? "partitioned" : "direct";
      log.reason = reason;
      log.groupSize = groupSize ?? groupSizeAt(state, looksUp);
      Object.assign(log, bulk && way !== "direct" ? bulk.shapeOf(state, way) : { parts: 1, pages: 0 });
    }
    return bulk;
  }

  /** Binds a batch chunk by chunk. `output`: where the call's results go. */
  async #eachChunk(
    operation: string,
    { keys, values, where, bytes = 4, plan }: Batch<K, V>,
    call: CallOptions,
    output: Placement,
    run: (chunk: BoundChunk) => Promise<void>,
  ): Promise<void> {
    const { gpu, pacer } = this.state.host;
    const { log } = call;
    gpu.checkAlive();
    const staged = output === "host" || [keys, values, where].some((column) => ArrayBuffer.isView(column));
    const bindable = gpu.device.limits.maxStorageBufferBindingSize / Math.max(bytes, PARTITION_BYTES);
    // a batch to partition is taken in large pieces: an empty table is built from all of it, or not at all
    const partitions = !gpu.software && plan?.(Math.min(keys.length, BULK_CHUNK)).way !== "direct";
    const least = plan && partitions ? BULK_CHUNK : 0;
    const trace = log ? await Trace.open(gpu, log) : null;
    this.state.trace = trace;
    const each = async (chunk: Chunk) => {
      if (log) log.chunks++;
      const scratch = new Scratch(gpu);
      try {
        const bound: BoundChunk = {
          ...chunk,
          scratch,
          signal: call.signal,
          groupSize: call.groupSize,
          keys: await scratch.input(this.spec.key as K, keys, chunk),
        };
        if (values) bound.values = await scratch.input(this.spec.value as V, values, chunk);
        if (where) bound.mask = await scratch.input("u8", where, chunk);
        await run(bound);
      } finally {
        scratch.release();
      }
    };
    try {
      await forEachChunk(pacer, { operation, bindable, staged, least }, keys.length, call, each);
    } finally {
      this.state.trace = null;
      trace?.close();
    }
  }
}

/** Bytes of a binding that partitioning takes for an element, at most: a pair, and what pages have room for besides. */
const PARTITION_BYTES = 12;
/** Elements of a chunk of a large batch, whatever speed was seen: some milliseconds on a large GPU, below a second on a small one. */
const BULK_CHUNK = 2 ** 27;

type Bulk = typeof import("./bulk.js");

/** The partitioned strategies are loaded by the first call that takes them: pages with small tables do without. */
const loadBulk = (): Promise<Bulk> => import("./bulk.js");

function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}
