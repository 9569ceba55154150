/**
 * A table on the GPU: the engine's operations over whole batches. A batch is bound chunk by chunk and its results are
 * gathered here; which strategies an operation has is in operations.ts, what goes over all slots in scan/.
 */
import { type KeyType, lengthOf, type ValueType } from "../element-types.js";
import type {
  CallOptions,
  ChooseCall,
  Destination,
  Input,
  InsertCall,
  InsertPolicy,
  InsertTally,
  Missing,
  Output,
  Table,
  TableStats,
} from "../engine.js";
import { type Batch, eachChunk } from "../gpu/batch/batches.js";
import { type Absent, type BoundResult, resultColumns } from "../gpu/batch/results.js";
import type { Readback } from "../gpu/runtime.js";
import type { TableSpec } from "../layout.js";
import { lazily } from "../lazily.js";
import { type Scalar, wordsOf } from "../scalars.js";
import { native } from "./device/recorder.js";
import type { FullTable } from "./direct/full-table.js";
import type { InsertArguments } from "./direct/insert.js";
import { erase, find, insert, runOperation } from "./operations.js";
import { type Operation, plan } from "./planner.js";
import type { TableState } from "./table/table-state.js";

export type ReadStep = (now: readonly Readback[]) => Promise<unknown>;

const loadRetrieving = lazily(() => import("./scan/retrieve-all.js"));
const loadFull = lazily(() => import("./direct/full-table.js"));
const loadMarking = lazily(() => import("./direct/mark-rejected.js"));

export class WebgpuTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  constructor(private readonly state: TableState) {}

  get spec(): TableSpec {
    return this.state.spec;
  }

  get live(): number {
    return this.state.live;
  }

  get tombstones(): number {
    return this.state.tombstones;
  }

  /** The buffers, for users' own kernels. */
  get native() {
    const { state } = this;
    const { buffers, host } = state;
    for (const buffer of Object.values(buffers)) host.gpu.memory.share(buffer);
    const [slots, control] = [native(buffers.slots), native(buffers.control)];
    return { slots, control, maxBinding: host.maxTableBinding, state };
  }

  async choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    return (await import("./direct/choose.js")).choose(this.state, keys, which, call);
  }

  async insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall) {
    const { state } = this;
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const bytes = async () => (await import("./direct/combine-room.js")).bytesToCombine(state, policy);
    const batch = { ...this.#batch(policy, keys, call), values, bytes };
    if (call.rejected?.length) await (await loadMarking()).clearRejected(state, call.rejected);
    await this.#withFullTable((full) =>
      eachChunk(state, `insert ${policy}`, batch, call, "device", async (chunk, choice) => {
        const mark =
          call.rejected && state.mayFill(chunk.count)
            ? await (await loadMarking()).prepareMark(await full(), chunk, call.rejected)
            : null;
        const done = await runOperation(insert, state, chunk, choice, { policy, full });
        addTally(tally, done);
        if (mark && done.rejected > 0) await mark();
      }),
    );
    return tally;
  }

  async insertAndFind(keys: Input<K>, values: Input<V> | null, output: Destination, call: CallOptions) {
    const { insertAndFindBatch } = await import("./direct/insert-and-find-batch.js");
    const batch = { ...this.#batch("insertAndFind", keys, call), values };
    return this.#withFullTable((full) => insertAndFindBatch(this.state, batch, output, call, full));
  }

  async find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    const { state } = this;
    const { host, spec } = state;
    const type = (spec.value ?? spec.key) as V;
    const results = await resultColumns(host, lengthOf(keys), output, [type, "u8"]);
    const [values, flags] = results.columns;
    // of a composite it is written with the columns
    const fill = Array.isArray(missing) ? [] : wordsOf(type as Scalar, missing as number | bigint);
    const batch = this.#batch("find", keys, call);
    await results.keepUnlessThrown(() =>
      eachChunk(state, "find", batch, call, output, async (chunk, choice, readBack) => {
        const to = await values.bind(chunk.scratch, chunk);
        const found = await flags.bind(chunk.scratch, chunk);
        const results = { values: to.column, flags: found.column };
        const look = (reads: readonly Readback[]) =>
          runOperation(find, state, chunk, choice, { results, fill, reads });
        const reads = [...to.readback(chunk), ...found.readback(chunk)];
        await readBack(reads, finishing(to, chunk.count, look, { flags: found.column, missing }));
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    const { state } = this;
    const results = await resultColumns(state.host, lengthOf(keys), output, ["u8", null]);
    const [flags] = results.columns;
    const batch = this.#batch("find", keys, call);
    await results.keepUnlessThrown(() =>
      eachChunk(state, "contains", batch, call, output, async (chunk, choice, readBack) => {
        const found = await flags.bind(chunk.scratch, chunk);
        await readBack(found.readback(chunk), (now) =>
          runOperation(find, state, chunk, choice, {
            results: { flags: found.column },
            fill: [],
            reads: now,
          }),
        );
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    const { state } = this;
    let erased = 0;
    const batch = this.#batch("erase", keys, call);
    await eachChunk(state, "erase", batch, call, "device", async (chunk, choice) => {
      erased += await runOperation(erase, state, chunk, choice, undefined);
    });
    return erased;
  }

  async retrieveAll(
    output: Destination,
    call: CallOptions,
  ): Promise<{ keys: Output<K>; values: Output<V> | null }> {
    return (await loadRetrieving()).retrieveAll(this.state, output, call);
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

  /** The keys of a call, and the planner's choice for so many of them. */
  #batch(operation: Operation, keys: Input<K>, call: CallOptions): Batch<K, V> {
    return { keys, plan: (count) => plan(operation, this.state, count, call) };
  }

  /** Runs an insert call with what its chunks share when the table is full. */
  async #withFullTable<T>(insert: (full: InsertArguments["full"]) => Promise<T>): Promise<T> {
    let made: FullTable | undefined;
    try {
      return await insert(async () => {
        const { FullTable } = await loadFull();
        made ??= new FullTable(this.state);
        return made;
      });
    } finally {
      made?.destroy();
    }
  }
}

/** A step that writes a result, and then splits it where it is of several columns. */
export function finishing(
  result: BoundResult | undefined,
  count: number,
  step: ReadStep,
  absent?: Absent,
): (now: readonly Readback[]) => Promise<void> {
  const split = result?.split;
  return async (now) => {
    await step(split ? [] : now);
    await split?.(count, now, absent);
  };
}

export function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}
