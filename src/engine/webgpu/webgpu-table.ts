/**
 * A table on the GPU and its operations, as sequences of dispatches. The probing is in kernels/*.wgsl; this file decides
 * which kernels run, over which elements, and keeps the table's numbers (entries, tombstones, longest probe) exact.
 */
import type { Engine, Input, InsertPolicy, InsertTally, Output, CallOptions, Placement, Table, TableStats } from "../engine.js";
import { bitsOf, type KeyType, type ScalarType, type ValueType } from "../scalars.js";
import { EMPTY, SIDE_SLOTS, type TableSpec, tableBytes } from "../layout.js";
import { applyIdentity } from "./apply-identity.js";
import { type Chunk, type Column, ResultColumn, Scratch } from "./columns.js";
import { forEachChunk } from "./chunks.js";
import { type Counters, CALL_COUNTER_BYTES, CONTROL_BYTES, readCounters } from "./control.js";
import { fill } from "./fill.js";
import type { Gpu, Readback } from "./gpu.js";
import type { Constants, Kernels, KernelSource } from "./kernel.js";
import type { Pacer } from "./pacer.js";
import { againAfter, listedAfter, type Selection, wholeChunk } from "./selection.js";
import { readStatistics, STATISTICS_BYTES } from "./statistics.js";
import { tableConstants } from "./table-constants.js";
import {
  applyCodes,
  BATCH_TILE,
  RETRIEVE_TILE,
  type TableBindings,
  type TableKernels,
  type TableParams,
  tableParams,
  tableRanges,
} from "./table-kernels.js";

/** What a table needs of its engine. */
export interface TableHost {
  readonly engine: Engine;
  readonly gpu: Gpu;
  readonly kernels: Kernels;
  readonly pacer: Pacer;
  /** Elements that a list of unfinished elements has room for. */
  readonly listRoom: number;
}

/** The columns of one chunk, bound. */
interface BoundChunk extends Chunk {
  scratch: Scratch;
  keys: Column;
  values?: Column;
  mask?: Column;
  flags?: Column;
  known?: Column;
  lists?: GPUBuffer;
}

/** One round of a kernel over a selection of a chunk. */
interface Round {
  kernel: KernelSource;
  constants: Constants;
  selection: Selection;
  fill?: number;
  reads?: readonly Readback[];
}

const zeroCounters = new Uint8Array(CALL_COUNTER_BYTES);

export class WebgpuTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  #mainLive = 0;
  #sideLive = 0;
  #tombstones = 0;
  #maxProbe = 0;
  #freed = false;

  constructor(
    private readonly host: TableHost,
    readonly spec: TableSpec,
    private readonly sources: TableKernels,
    private readonly slotBuffer: GPUBuffer,
    private readonly controlBuffer: GPUBuffer,
  ) {}

  get live(): number {
    return this.#mainLive + this.#sideLive;
  }

  get gpu(): { slots: GPUBuffer; control: GPUBuffer } {
    return { slots: this.slotBuffer, control: this.controlBuffer };
  }

  async insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: CallOptions): Promise<InsertTally> {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const inputs = { keys, values, where: call.where };
    await this.#eachChunk(`insert ${policy}`, inputs, call, false, async (chunk) => {
      addTally(tally, await this.#insertChunk(chunk, policy));
    });
    return tally;
  }

  async insertAndFind(
    keys: Input<K>,
    values: Input<V> | null,
    output: Placement,
    call: CallOptions,
  ): Promise<InsertTally & { values: Output<V> | null; insertedFlags: Output<"u8"> }> {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const [flags, found] = await allOrNone([
      this.#result("u8", keys.length, output),
      values === null ? null : this.#result(this.spec.value as V, keys.length, output),
    ]);
    const inputs = { keys, values, where: call.where };
    await discardOnError([flags, found], () =>
      this.#eachChunk("insertAndFind", inputs, call, output === "host", async (chunk) => {
        chunk.flags = await flags.bind(chunk.scratch, chunk);
        await this.#clear(chunk.flags, chunk.count);
        addTally(tally, await this.#insertChunk(chunk, "keep"));
        const reads = flags.readback(chunk.flags, chunk);
        const stored = await found?.bind(chunk.scratch, chunk);
        const at = { ...chunk, values: stored, flags: undefined };
        if (found && stored) await this.#lookUpChunk(at, 0, [...reads, ...found.readback(stored, chunk)]);
        else await this.host.gpu.submit("flags", () => {}, reads);
      }),
    );
    return { ...tally, values: found?.output ?? null, insertedFlags: flags.output };
  }

  async find(keys: Input<K>, missing: number, output: Placement, call: CallOptions): Promise<{ values: Output<V>; found: Output<"u8"> }> {
    const type = (this.spec.value ?? this.spec.key) as V;
    const [values, flags] = await allOrNone([
      this.#result(type, keys.length, output),
      this.#result("u8", keys.length, output),
    ]);
    const fill = bitsOf(type, missing);
    await discardOnError([values, flags], () =>
      this.#eachChunk("find", { keys, where: call.where }, call, output === "host", async (chunk) => {
        const at = { ...chunk, values: await values.bind(chunk.scratch, chunk), flags: await flags.bind(chunk.scratch, chunk) };
        await this.#lookUpChunk(at, fill, [...values.readback(at.values, chunk), ...flags.readback(at.flags, chunk)]);
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Placement, call: CallOptions): Promise<Output<"u8">> {
    const flags = await this.#result("u8", keys.length, output);
    await discardOnError([flags], () =>
      this.#eachChunk("contains", { keys, where: call.where }, call, output === "host", async (chunk) => {
        const at = { ...chunk, flags: await flags.bind(chunk.scratch, chunk) };
        await this.#lookUpChunk(at, 0, flags.readback(at.flags, chunk));
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let erased = 0;
    await this.#eachChunk("erase", { keys, where: call.where }, call, false, async (chunk) => {
      let selection: Selection | null = wholeChunk(chunk.count, this.host.listRoom);
      while (selection) {
        const constants = {};
        const counters: Counters = await this.#round(chunk, { kernel: this.sources.erase, constants, selection });
        erased += counters.erased + counters.sideErased;
        selection = afterRound(selection, counters, chunk.count);
      }
    });
    return erased;
  }

  async retrieveAll(output: Placement, call: CallOptions): Promise<{ keys: Output<K>; values: Output<V> | null }> {
    call.signal?.throwIfAborted();
    const { gpu, kernels } = this.host;
    const entries: Chunk = { first: 0, count: this.live };
    const [keys, values] = await allOrNone([
      this.#result(this.spec.key as K, this.live, output),
      this.spec.value === null ? null : this.#result(this.spec.value as V, this.live, output),
    ]);
    const scratch = new Scratch(gpu);
    try {
      if (this.live > 0) {
        const outKeys = await keys.bind(scratch, entries);
        const outValues = await values?.bind(scratch, entries);
        const kernel = await kernels.compile(this.sources.retrieve, { ...this.#tableConstants(), VALUED: Number(values !== null) });
        const ranges = tableRanges({ ...this.#tableBindings(), flags: outKeys.range, values: outValues?.range });
        const count = this.spec.slots + SIDE_SLOTS;
        const reads = [...keys.readback(outKeys, entries), ...(values && outValues ? values.readback(outValues, entries) : [])];
        await this.#submit("retrieveAll", reads, (encoder) => {
          kernel.record(encoder, ranges, tableParams({ slots: this.spec.slots, count }), Math.ceil(count / RETRIEVE_TILE));
        });
      }
      call.onProgress?.(this.live, this.live);
    } catch (error) {
      keys.discard();
      values?.discard();
      throw error;
    } finally {
      scratch.release();
    }
    return { keys: keys.output, values: values?.output ?? null };
  }

  async clear(): Promise<void> {
    const { gpu, kernels } = this.host;
    gpu.write(this.controlBuffer, 0, new Uint8Array(CONTROL_BYTES));
    await fill(gpu, kernels, { buffer: this.slotBuffer }, EMPTY);
    this.#mainLive = this.#sideLive = this.#tombstones = this.#maxProbe = 0;
  }

  async stats(): Promise<TableStats> {
    const { gpu, kernels } = this.host;
    const kernel = await kernels.compile(this.sources.stats, this.#tableConstants());
    const scratch = new Scratch(gpu);
    try {
      const buffer = await scratch.buffer(STATISTICS_BYTES);
      const range = { buffer, offset: 0, size: STATISTICS_BYTES };
      const count = this.spec.slots + SIDE_SLOTS;
      const into = new Uint8Array(STATISTICS_BYTES);
      const params = tableParams({ slots: this.spec.slots, count });
      await gpu.submit(
        "stats",
        (encoder) => {
          encoder.clearBuffer(buffer, 0, STATISTICS_BYTES);
          const ranges = tableRanges({ table: { buffer: this.slotBuffer }, values: range });
          kernel.record(encoder, ranges, params, Math.min(4096, Math.ceil(count / 256)));
        },
        [{ buffer, offset: 0, into }],
      );
      return readStatistics(into);
    } finally {
      scratch.release();
    }
  }

  destroy(): void {
    if (this.#freed) return;
    this.#freed = true;
    this.host.gpu.free(this.slotBuffer);
    this.host.gpu.free(this.controlBuffer);
  }

  /** Inserts a chunk under a policy: claims slots, then combines values where claiming could not. */
  async #insertChunk(chunk: BoundChunk, policy: InsertPolicy): Promise<InsertTally> {
    const applies = policy !== "keep" && policy !== "assign";
    const fill = applies ? applyIdentity(policy, this.spec.value as ValueType) : undefined;
    const { inserted, selected, rejected, skipped } = await this.#claimChunk(chunk, policy === "assign", fill);
    if (applies || (policy === "assign" && skipped && this.spec.value !== null)) {
      await this.#applyChunk(chunk, applies ? policy : "assign");
    }
    return { inserted, rejected, existing: selected - inserted - rejected };
  }

  /** Runs the insert kernel until every element has its slot, meets its key, or is known not to fit. */
  async #claimChunk(chunk: BoundChunk, assign: boolean, fill: number | undefined) {
    let selection: Selection = wholeChunk(chunk.count, this.host.listRoom);
    let inserted = 0;
    let selected = 0;
    let rejected = 0;
    const reuse = this.#tombstones > 0;
    for (;;) {
      if (reuse && !selection.listed) await this.#findKnown(chunk);
      const constants = {
        REUSE: Number(reuse),
        FLAGGED: Number(chunk.flags !== undefined),
        ASSIGN: Number(assign),
        FILL: Number(fill !== undefined),
      };
      const counters = await this.#round(chunk, { kernel: this.sources.insert, constants, selection, fill });
      inserted += counters.inserted + counters.sideInserted;
      if (!selection.listed) {
        selected = chunk.mask ? counters.selected : chunk.count;
        rejected = 0;
      }
      rejected += counters.rejected;
      const next = afterRound(selection, counters, chunk.count);
      if (next === null) return { inserted, selected, rejected, skipped: reuse };
      if (this.#mainLive === this.spec.slots) {
        // no slot is free: what is unfinished either meets its key or does not fit
        const asked = next.listed ? next.count : selected;
        const absent = asked - (await this.#countFound(chunk, next));
        return { inserted, selected, rejected: next.listed ? rejected + absent : absent, skipped: true };
      }
      selection = next;
    }
  }

  /** Leaves 1 in `chunk.known` for the keys that are in the table. */
  async #findKnown(chunk: BoundChunk): Promise<void> {
    chunk.known ??= await chunk.scratch.column("u8", chunk.count);
    await this.#lookUpChunk({ ...chunk, flags: chunk.known, known: undefined, values: undefined }, 0, []);
  }

  /** Looks a chunk up into its `values` and `flags` columns, as far as it has them, and reads results back. */
  async #lookUpChunk(chunk: BoundChunk, fill: number, reads: readonly Readback[]): Promise<void> {
    const constants = { VALUED: Number(chunk.values !== undefined), FLAGGED: Number(chunk.flags !== undefined), COUNTED: 0 };
    const first = wholeChunk(chunk.count, this.host.listRoom);
    const kernel = this.sources.lookup;
    let counters = await this.#round(chunk, { kernel, constants, selection: first, fill, reads });
    if (counters.unfinished === 0) return;
    let selection = first;
    while (counters.unfinished > 0) {
      selection = listedAfter(selection, counters.unfinished);
      counters = await this.#round(chunk, { kernel, constants, selection, fill });
    }
    await this.host.gpu.submit("results", () => {}, reads);
  }

  /** How many elements of a selection have their key in the table. */
  async #countFound(chunk: BoundChunk, start: Selection): Promise<number> {
    const constants = { VALUED: 0, FLAGGED: 0, COUNTED: 1 };
    const plain = { ...chunk, values: undefined, flags: undefined };
    let found = 0;
    for (let selection = start; ; ) {
      const counters = await this.#round(plain, { kernel: this.sources.lookup, constants, selection });
      found += counters.found;
      if (counters.unfinished === 0) return found;
      selection = listedAfter(selection, counters.unfinished);
    }
  }

  /** Combines the values of a chunk with those of its keys. */
  async #applyChunk(chunk: BoundChunk, op: keyof typeof applyCodes): Promise<void> {
    const isF32 = this.spec.value === "f32" && op !== "assign";
    const constants = { OP: applyCodes[op], VALUE_F32: Number(isF32) };
    const all = { ...chunk, lists: undefined };
    for (let selection = wholeChunk(chunk.count, isF32 ? chunk.count : this.host.listRoom); ; ) {
      const counters = await this.#round(all, { kernel: this.sources.apply, constants, selection });
      if (counters.unfinished === 0) return;
      selection = listedAfter(selection, counters.unfinished);
    }
  }

  /** One dispatch over a selection of a chunk. Answers what it counted, and notes what that means for the table. */
  async #round(chunk: BoundChunk, round: Round): Promise<Counters> {
    const { selection } = round;
    chunk.lists ??= await chunk.scratch.buffer(selection.room * 8);
    const flags = { listed: selection.listed, masked: chunk.mask !== undefined && !selection.listed };
    const kernel = await this.host.kernels.compile(round.kernel, { ...this.sources.batchConstants(flags), ...round.constants });
    const params: TableParams = {
      slots: this.spec.slots,
      count: selection.count,
      keyShift: chunk.keys.shift,
      valueShift: chunk.values?.shift,
      maskShift: chunk.mask?.shift,
      flagShift: chunk.flags?.shift,
      fill: round.fill,
      stepBudget: selection.budget,
      maxProbe: this.#maxProbe,
      listFrom: selection.from,
      listTo: selection.to,
      listRoom: selection.room,
    };
    const ranges = tableRanges({
      ...this.#tableBindings(),
      keys: chunk.keys.range,
      mask: chunk.mask?.range,
      lists: { buffer: chunk.lists, offset: 0, size: selection.room * 8 },
      values: chunk.values?.range,
      flags: chunk.flags?.range,
      known: chunk.known?.range,
    });
    return this.#submit(round.kernel.label, round.reads ?? [], (encoder) => {
      kernel.record(encoder, ranges, tableParams(params), Math.ceil(selection.count / BATCH_TILE));
    });
  }

  /** Submits with zeroed counters; reads them back, and notes what they say about the table. */
  async #submit(label: string, reads: readonly Readback[], record: (encoder: GPUCommandEncoder) => void): Promise<Counters> {
    const { gpu } = this.host;
    const into = new Uint8Array(CONTROL_BYTES);
    gpu.write(this.controlBuffer, 0, zeroCounters);
    await gpu.submit(label, record, [{ buffer: this.controlBuffer, offset: 0, into }, ...reads]);
    const counters = readCounters(into);
    this.#mainLive += counters.inserted - counters.erased;
    this.#sideLive += counters.sideInserted - counters.sideErased;
    this.#tombstones += counters.erased - counters.reused;
    this.#maxProbe = counters.maxProbe;
    return counters;
  }

  #tableBindings(): TableBindings {
    return { control: { buffer: this.controlBuffer }, table: { buffer: this.slotBuffer, offset: 0, size: tableBytes(this.spec) } };
  }

  #tableConstants(): Constants {
    return tableConstants(this.spec);
  }

  #result<T extends ScalarType>(type: T, length: number, placement: Placement): Promise<ResultColumn<T>> {
    return ResultColumn.create(this.host.engine, this.host.gpu, type, length, placement);
  }

  async #clear(column: Column, bytes: number): Promise<void> {
    const { buffer, offset = 0 } = column.range;
    await this.host.gpu.submit("clear flags", (encoder) => {
      encoder.clearBuffer(buffer, offset + column.shift * 4, (bytes + 3) & ~3);
    });
  }

  /** Binds a batch chunk by chunk. */
  async #eachChunk(
    operation: string,
    inputs: { keys: Input<K>; values?: Input<V> | null; where?: Input<"u8"> },
    call: CallOptions,
    hostResults: boolean,
    run: (chunk: BoundChunk) => Promise<void>,
  ): Promise<void> {
    const { gpu, pacer } = this.host;
    const { keys, values, where } = inputs;
    const columns = [keys, values, where];
    const staged = hostResults || columns.some((column) => ArrayBuffer.isView(column));
    // the lists of a kernel that needs room for all elements take 8 bytes an element
    const bindable = gpu.device.limits.maxStorageBufferBindingSize / 8;
    await forEachChunk(pacer, { operation, bindable, staged }, keys.length, call, async (chunk) => {
      const scratch = new Scratch(gpu);
      try {
        const bound: BoundChunk = { ...chunk, scratch, keys: await scratch.input(this.spec.key as K, keys, chunk) };
        if (values) bound.values = await scratch.input(this.spec.value as V, values, chunk);
        if (where) bound.mask = await scratch.input("u8", where, chunk);
        await run(bound);
      } finally {
        scratch.release();
      }
    });
  }
}

/** The next selection after a round, or null when nothing is unfinished. */
function afterRound(selection: Selection, counters: Counters, chunkCount: number): Selection | null {
  if (counters.unfinished === 0) return null;
  if (counters.unfinished <= selection.room) return listedAfter(selection, counters.unfinished);
  return againAfter(selection, chunkCount);
}

function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}

/** The result columns of a call; when one cannot be made, the other is given up. */
async function allOrNone<A extends ResultColumn<ScalarType> | null, B extends ResultColumn<ScalarType> | null>(
  columns: [Promise<A> | A, Promise<B> | B],
): Promise<[A, B]> {
  const settled = await Promise.allSettled(columns);
  const [a, b] = settled;
  if (a.status === "fulfilled" && b.status === "fulfilled") return [a.value, b.value];
  for (const each of settled) if (each.status === "fulfilled") each.value?.discard();
  throw (settled.find((each) => each.status === "rejected") as PromiseRejectedResult).reason;
}

/** Runs a call; when it fails, gives its device results up. */
async function discardOnError(results: readonly (ResultColumn<ScalarType> | null)[], call: () => Promise<void>): Promise<void> {
  try {
    await call();
  } catch (error) {
    for (const result of results) result?.discard();
    throw error;
  }
}
