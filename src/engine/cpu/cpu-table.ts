/**
 * A table of the cpu engine: its memory, its counts, and how a batch becomes chunks. What happens to the
 * elements of a chunk is in loops over its slots (slot-loops.ts), of which there are two kinds, for narrow and for wide
 * slots. Results are those of going through the batch in input order.
 */
import { ValidationError } from "../../errors.js";
import type { Allocation } from "../../host/memory.js";
import { nextTask } from "../../host/next-task.js";
import { ruleOf } from "../apply.js";
import { isFloatWord, type KeyType, lengthOf, type ValueType } from "../element-types.js";
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
import { hashNames } from "../hash-names.js";
import { EMPTY, type TableSpec } from "../layout.js";
import { slotFormat } from "../slot-format.js";
import type { CpuEngine } from "./cpu-engine.js";
import { elementWords, Outputs } from "./memory/outputs.js";
import { Inputs } from "./memory/storage.js";
import type { TableMemory } from "./table/blocks.js";
import { type ChunkWork, eachChunk, inChunks, note } from "./table/chunks.js";
import { narrowLoops } from "./table/narrow-loops.js";
import { type Counters, type InsertColumns, newTally } from "./table/probes.js";
import { type Collector, collectSide, type Measurement } from "./table/scan.js";
import type { Columns } from "./table/sequential.js";
import type { LookUpColumns, SlotLoops } from "./table/slot-loops.js";

const NO_BYTES = new Uint8Array(0);

/** Words filled at once when a table is cleared: about 10 ms of work. */
const CLEAR_WORDS = 2 ** 23;

export class CpuTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  readonly spec: TableSpec;
  readonly #engine: CpuEngine;
  readonly #allocation: Allocation;
  readonly #counters: Counters = { mainLive: 0, sideLive: 0, tombstones: 0, maxProbe: 0 };
  readonly #loops: SlotLoops;
  #destroyed = false;

  /**
   * Takes over `allocation`, which may hold anything: `clear` before the first use.
   * @param loops those for narrow slots, unless told.
   */
  constructor(engine: CpuEngine, spec: TableSpec, allocation: Allocation, loops?: SlotLoops) {
    this.#engine = engine;
    this.spec = spec;
    this.#allocation = allocation;
    this.#loops = loops ?? narrowLoops(engine, (change) => this.#recountOnError(change));
  }

  get live(): number {
    return this.#counters.mainLive + this.#counters.sideLive;
  }

  get tombstones(): number {
    return this.#counters.tombstones;
  }

  readonly inOrder = true;

  async choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    return (await import("./choose.js")).choose(this.#engine, this.spec, keys, which, call);
  }

  insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall) {
    const rule = ruleOf(policy, this.spec.value);
    return this.#operate(async (table, inputs) => {
      const rejected = call.rejected === undefined ? NO_BYTES : inputs.mask(call.rejected).fill(0);
      const columns = { values: inputs.columns(values), rule, flags: NO_BYTES, stored: [], rejected };
      return this.#insert(table, inputs, keys, columns, call);
    });
  }

  insertAndFind(keys: Input<K>, values: Input<V> | null, output: Destination, call: CallOptions) {
    return this.#produce(output, async (table, inputs, outputs) => {
      const length = lengthOf(keys);
      const flags = outputs.make("u8", length);
      const stored = this.spec.value === null ? null : outputs.makeFor(this.spec.value as V, length);
      const columns = {
        values: inputs.columns(values),
        rule: ruleOf("keep", this.spec.value),
        flags: flags.array as Uint8Array,
        stored: stored?.bits ?? [],
        rejected: NO_BYTES,
      };
      const tally = await this.#insert(table, inputs, keys, columns, call);
      return {
        ...tally,
        values: stored?.output ?? null,
        insertedFlags: flags.output,
      };
    });
  }

  find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    return this.#produce(output, async (table, inputs, outputs) => {
      const type = (this.spec.value ?? this.spec.key) as V;
      const length = lengthOf(keys);
      const values = outputs.makeFor(type, length, call.where && missing);
      const found = outputs.make("u8", length);
      const columns = { found: found.array, values: values.bits, missing: elementWords(type, missing) };
      await this.#find(table, inputs, keys, columns, call);
      return { values: values.output, found: found.output };
    });
  }

  contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    return this.#produce(output, async (table, inputs, outputs) => {
      const found = outputs.make("u8", lengthOf(keys));
      await this.#find(table, inputs, keys, { found: found.array, values: [], missing: [] }, call);
      return found.output;
    });
  }

  erase(keys: Input<K>, call: CallOptions): Promise<number> {
    return this.#operate(async (table, inputs) => {
      const tally = newTally();
      const at = { table, counters: this.#counters, tally, deferred: null };
      await this.#eachChunk(inputs, keys, call, this.#loops.erase(at));
      return tally.erased;
    });
  }

  retrieveAll(output: Destination, call: CallOptions) {
    return this.#produce(output, async (table, _, outputs) => {
      const { key, value } = this.spec;
      const keys = outputs.makeFor(key as K, this.live);
      const values = value === null ? null : outputs.makeFor(value as V, this.live);
      const into: Collector = { keys: keys.bits, values: values?.bits ?? [], count: 0 };
      // Side entries come first: the scan of the slots ends when the last entry is there.
      collectSide(table, slotFormat(this.spec), into);
      await inChunks(table.slotCount, call, this.#guard, (from) => {
        const to = Math.min(table.slotCount, from + this.#engine.tuning.chunk);
        const start = performance.now();
        this.#loops.collectSlots(table, from, to, into);
        note(call.log, "direct", "every slot is read once, in order", start);
        return to;
      });
      return { keys: keys.output, values: values?.output ?? null };
    });
  }

  clear(): Promise<void> {
    return this.#operate(async ({ slots }) => {
      for (let from = 0; from < slots.length; from += CLEAR_WORDS) {
        if (from > 0) await nextTask();
        this.#guard();
        slots.fill(EMPTY, from, from + CLEAR_WORDS);
      }
      Object.assign(this.#counters, { mainLive: 0, sideLive: 0, tombstones: 0, maxProbe: 0 });
    });
  }

  stats(): Promise<TableStats> {
    return this.#operate(async (table) => (await this.#measure(table)).result());
  }

  /** The slots and their counts, for tests that check the layout. @internal */
  inspect(): { memory: TableMemory; counters: Readonly<Counters> } {
    return { memory: this.#memory(), counters: { ...this.#counters } };
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#allocation.release();
  }

  /** Runs an operation with the table's memory and its inputs kept in place. */
  async #operate<T>(operation: (table: TableMemory, inputs: Inputs) => Promise<T>): Promise<T> {
    this.#guard();
    const inputs = new Inputs(this.#engine);
    this.#allocation.retain();
    try {
      return await operation(this.#memory(), inputs);
    } finally {
      inputs.release();
      this.#allocation.release();
    }
  }

  /**
   * The same for an operation with results; when it throws, nobody will ever see its result columns, so they are freed.
   */
  #produce<T>(
    to: Destination,
    operation: (table: TableMemory, inputs: Inputs, outputs: Outputs) => Promise<T>,
  ): Promise<T> {
    const outputs = new Outputs(this.#engine, to);
    return this.#operate((table, inputs) =>
      outputs.keepUnlessThrown(() => operation(table, inputs, outputs)),
    );
  }

  readonly #guard = (): void => {
    this.#engine.guard();
    if (this.#destroyed) {
      throw new ValidationError(
        "The table was destroyed.",
        "Await running calls before destroying what they work on.",
      );
    }
  };

  #memory(): TableMemory {
    const { key, slots, hash, seed } = this.spec;
    const { slotWords: words, sideSlots } = slotFormat(this.spec);
    return {
      slots: new Uint32Array(this.#allocation.buffer, 0, (slots + sideSlots) * words),
      slotCount: slots,
      words,
      ...(typeof hash === "string" ? { hash: hashNames.indexOf(hash) } : { hash: -1, own: hash.js }),
      seed,
      floatKeys: isFloatWord(key),
    };
  }

  async #insert(
    table: TableMemory,
    inputs: Inputs,
    keys: Input<K>,
    columns: InsertColumns<Columns>,
    call: CallOptions,
  ): Promise<InsertTally> {
    const tally = newTally();
    const at = { table, counters: this.#counters, tally, deferred: null };
    const work = this.#loops.insert(at, columns);
    await this.#eachChunk(inputs, keys, call, work);
    const { inserted, existing, rejected } = tally;
    return { inserted, existing, rejected };
  }

  async #find(
    table: TableMemory,
    inputs: Inputs,
    keys: Input<K>,
    columns: LookUpColumns,
    call: CallOptions,
  ): Promise<void> {
    const work = this.#loops.find(table, this.#counters.maxProbe, columns);
    await this.#eachChunk(inputs, keys, call, work);
  }

  #eachChunk(inputs: Inputs, keys: Input<K>, call: CallOptions, work: ChunkWork): Promise<void> {
    return eachChunk(inputs.batch(keys, call.where), call, this.#guard, this.#engine.tuning.chunk, work);
  }

  /** A chunk that failed midway (a worker died) leaves a valid table with unknown counts. */
  async #recountOnError<T>(change: () => Promise<T>): Promise<T> {
    try {
      return await change();
    } catch (error) {
      this.#guard();
      const { maxProbe } = this.#counters;
      Object.assign(this.#counters, (await this.#measure(this.#memory())).counters());
      this.#counters.maxProbe = Math.max(this.#counters.maxProbe, maxProbe);
      throw error;
    }
  }

  async #measure(table: TableMemory): Promise<Measurement> {
    const measurement = this.#loops.measurement(table);
    await inChunks(table.slotCount, {}, this.#guard, (from) => {
      const to = Math.min(table.slotCount, from + this.#engine.tuning.chunk);
      measurement.addSlots(from, to);
      return to;
    });
    return measurement;
  }
}
