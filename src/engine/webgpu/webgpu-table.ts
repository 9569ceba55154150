/**
 * A table on the GPU: the engine's operations over whole batches. A batch is bound chunk by chunk and its results are
 * gathered here; what happens to a chunk is in chunk-rounds.ts, the walks over all slots in table-scans.ts.
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
import { type BoundChunk, eraseChunk, insertChunk, lookUpChunk } from "./chunk-rounds.js";
import { forEachChunk } from "./chunks.js";
import { type Column, Scratch } from "./columns.js";
import { resultColumns } from "./results.js";
import { retrieveAll, stats } from "./table-scans.js";
import type { TableState } from "./table-state.js";

/** The input columns of a call. */
interface Batch<K extends KeyType, V extends ValueType> {
  keys: Input<K>;
  values?: Input<V> | null;
  where?: Input<"u8">;
}

export class WebgpuTable<K extends KeyType, V extends ValueType> implements Table<K, V> {
  constructor(private readonly state: TableState) {}

  get spec(): TableSpec {
    return this.state.spec;
  }

  get live(): number {
    return this.state.live;
  }

  get gpu(): { slots: GPUBuffer; control: GPUBuffer } {
    return this.state.buffers;
  }

  async insert(
    keys: Input<K>,
    values: Input<V> | null,
    policy: InsertPolicy,
    call: CallOptions,
  ): Promise<InsertTally> {
    const tally: InsertTally = { inserted: 0, existing: 0, rejected: 0 };
    const batch = { keys, values, where: call.where };
    await this.#eachChunk(`insert ${policy}`, batch, call, "device", async (chunk) => {
      addTally(tally, await insertChunk(this.state, chunk, policy));
    });
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
    await results.keepUnlessThrown(() =>
      this.#eachChunk("insertAndFind", batch, call, output, async (chunk) => {
        chunk.flags = await flags.bind(chunk.scratch, chunk);
        await this.#clear(chunk.flags, chunk.count);
        addTally(tally, await insertChunk(this.state, chunk, "keep"));
        const reads = flags.readback(chunk.flags, chunk);
        if (stored === null) return host.gpu.submit("flags", () => {}, reads);
        const at = { ...chunk, values: await stored.bind(chunk.scratch, chunk), flags: undefined };
        return lookUpChunk(this.state, at, 0, [...reads, ...stored.readback(at.values, chunk)]);
      }),
    );
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
      this.#eachChunk("find", { keys, where: call.where }, call, output, async (chunk) => {
        const at = {
          ...chunk,
          values: await values.bind(chunk.scratch, chunk),
          flags: await flags.bind(chunk.scratch, chunk),
        };
        const reads = [...values.readback(at.values, chunk), ...flags.readback(at.flags, chunk)];
        await lookUpChunk(this.state, at, fill, reads);
      }),
    );
    return { values: values.output, found: flags.output };
  }

  async contains(keys: Input<K>, output: Placement, call: CallOptions): Promise<Output<"u8">> {
    const results = await resultColumns(this.state.host, keys.length, output, ["u8", null]);
    const [flags] = results.columns;
    await results.keepUnlessThrown(() =>
      this.#eachChunk("contains", { keys, where: call.where }, call, output, async (chunk) => {
        const at = { ...chunk, flags: await flags.bind(chunk.scratch, chunk) };
        await lookUpChunk(this.state, at, 0, flags.readback(at.flags, chunk));
      }),
    );
    return flags.output;
  }

  async erase(keys: Input<K>, call: CallOptions): Promise<number> {
    let erased = 0;
    await this.#eachChunk("erase", { keys, where: call.where }, call, "device", async (chunk) => {
      erased += await eraseChunk(this.state, chunk);
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

  async #clear(column: Column, bytes: number): Promise<void> {
    const { buffer, offset = 0 } = column.range;
    await this.state.host.gpu.submit("clear flags", (encoder) => {
      encoder.clearBuffer(buffer, offset + column.shift * 4, (bytes + 3) & ~3);
    });
  }

  /** Binds a batch chunk by chunk. `output`: where the call's results go. */
  async #eachChunk(
    operation: string,
    { keys, values, where }: Batch<K, V>,
    call: CallOptions,
    output: Placement,
    run: (chunk: BoundChunk) => Promise<void>,
  ): Promise<void> {
    const { gpu, pacer } = this.state.host;
    gpu.checkAlive();
    const staged = output === "host" || [keys, values, where].some((column) => ArrayBuffer.isView(column));
    // the lists of a kernel that needs room for all elements take 8 bytes an element
    const bindable = gpu.device.limits.maxStorageBufferBindingSize / 8;
    await forEachChunk(pacer, { operation, bindable, staged }, keys.length, call, async (chunk) => {
      const scratch = new Scratch(gpu);
      try {
        const bound: BoundChunk = {
          ...chunk,
          scratch,
          signal: call.signal,
          keys: await scratch.input(this.spec.key as K, keys, chunk),
        };
        if (values) bound.values = await scratch.input(this.spec.value as V, values, chunk);
        if (where) bound.mask = await scratch.input("u8", where, chunk);
        await run(bound);
      } finally {
        scratch.release();
      }
    });
  }
}

function addTally(sum: InsertTally, tally: InsertTally): void {
  sum.inserted += tally.inserted;
  sum.existing += tally.existing;
  sum.rejected += tally.rejected;
}
