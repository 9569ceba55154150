/**
 * A table that the first GPU has, for callers of several: it is that GPU's table, whose arguments lie there already or
 * are brought there. What is small costs no more than on one GPU.
 */
import {
  type CallOptions,
  type ChooseCall,
  type ColumnInput,
  type Destination,
  DeviceArray,
  type Input,
  type InsertCall,
  type InsertPolicy,
  type KeyType,
  type Missing,
  type Output,
  type TableSpec,
  type ValueType,
} from "warpmap/engine";
import { CudaTable } from "../table/cuda-table.js";
import { TableState } from "../table/table-state.js";
import { arrayOn, isOnFirstGpu, piecesOf } from "./pieces.js";
import { Columns, type SeveralHost } from "./results.js";

/** What brings an array to the first GPU; `free` gives the copy up. */
export type ToFirstGpu = (array: DeviceArray) => Promise<{ array: DeviceArray; free?: () => void }>;

export class OneGpuTable<K extends KeyType, V extends ValueType> extends CudaTable<K, V> {
  private constructor(
    private readonly several: SeveralHost,
    private readonly toFirstGpu: ToFirstGpu,
    state: TableState,
  ) {
    super(state);
  }

  /** An empty table. @throws LimitError when the GPU has too little memory */
  static async createOn<K extends KeyType, V extends ValueType>(
    several: SeveralHost,
    toFirstGpu: ToFirstGpu,
    spec: TableSpec,
  ): Promise<OneGpuTable<K, V>> {
    return new OneGpuTable<K, V>(several, toFirstGpu, await TableState.create(several.gpus.hosts[0], spec));
  }

  override choose(keys: Input<K>, which: "first" | "last", call: ChooseCall) {
    return this.#carried(keys, null, call, async (keys, _, call) => {
      const { chosen, selected } = await super.choose(keys, which, call);
      return { chosen: this.#back(chosen), selected };
    });
  }

  /** Where elements are marked in an array that the first GPU does not have as a whole, by way of one that it has. */
  override insert(keys: Input<K>, values: Input<V> | null, policy: InsertPolicy, call: InsertCall) {
    return this.#carried(keys, values, call, async (keys, values, call) => {
      const { rejected } = call;
      if (!rejected) return super.insert(keys, values, policy, call);
      if (isOnFirstGpu(rejected)) {
        return super.insert(keys, values, policy, { ...call, rejected: piecesOf(rejected)[0].array });
      }
      const { gpus } = this.several;
      const marks = await gpus.hosts[0].engine.allocate("u8", rejected.length);
      try {
        const tally = await super.insert(keys, values, policy, { ...call, rejected: marks });
        const span = { gpu: 0, first: 0, count: marks.length };
        await Columns.over(this.several, [rejected]).put(span, [marks]);
        return tally;
      } finally {
        marks.destroy();
      }
    });
  }

  override insertAndFind(keys: Input<K>, values: Input<V> | null, output: Destination, call: CallOptions) {
    return this.#carried(keys, values, call, async (keys, values, call) => {
      const answer = await super.insertAndFind(keys, values, output, call);
      return {
        ...answer,
        values: this.#back(answer.values),
        insertedFlags: this.#back(answer.insertedFlags),
      };
    });
  }

  override find(keys: Input<K>, missing: Missing, output: Destination, call: CallOptions) {
    return this.#carried(keys, null, call, async (keys, _, call) => {
      const { values, found } = await super.find(keys, missing, output, call);
      return { values: this.#back(values), found: this.#back(found) };
    });
  }

  override contains(keys: Input<K>, output: Destination, call: CallOptions): Promise<Output<"u8">> {
    return this.#carried(keys, null, call, async (keys, _, call) =>
      this.#back(await super.contains(keys, output, call)),
    );
  }

  override erase(keys: Input<K>, call: CallOptions): Promise<number> {
    return this.#carried(keys, null, call, (keys, _, call) => super.erase(keys, call));
  }

  override async retrieveAll(output: Destination, call: CallOptions) {
    const { keys, values } = await super.retrieveAll(output, call);
    return { keys: this.#back(keys), values: this.#back(values) };
  }

  /** Makes a call with columns that the first GPU reads. */
  async #carried<C extends Pick<CallOptions, "where">, T>(
    keys: Input<K>,
    values: Input<V> | null,
    call: C,
    work: (keys: Input<K>, values: Input<V> | null, call: C) => Promise<T>,
  ): Promise<T> {
    const freeing: (() => void)[] = [];
    const bring = async (input: DeviceArray) => {
      const { array, free } = await this.toFirstGpu(input);
      if (free) freeing.push(free);
      return array;
    };
    // most are there: a promise for each takes longer than all else here
    const there = <I>(input: I): I | Promise<I> => {
      if (Array.isArray(input)) return Promise.all(input.map(there)) as Promise<I>;
      if (!(input instanceof DeviceArray)) return input;
      return (isOnFirstGpu(input) ? piecesOf(input)[0].array : bring(input)) as I | Promise<I>;
    };
    try {
      const given = [await there(keys), values && (await there(values))] as const;
      const where = call.where && (await there(call.where as ColumnInput));
      return await work(...given, where ? { ...call, where } : call);
    } finally {
      for (const free of freeing) free();
    }
  }

  /** A result for callers of several GPUs. */
  #back<O>(output: O): O {
    const one = (column: unknown) =>
      column instanceof DeviceArray ? arrayOn(this.several.engine, 0, column) : column;
    return (Array.isArray(output) ? output.map(one) : one(output)) as O;
  }
}
