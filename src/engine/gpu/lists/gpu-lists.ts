/** Lists on the GPU: the operations, each in a file beside this one, over one state. */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import { CountedLists } from "../../list-counts.js";
import type { BasicType } from "../../scalars.js";
import type {
  EntryRange,
  Expanded,
  ListMatches,
  ListSpec,
  LocateOptions,
  ValueLists,
  Wanted,
} from "../../value-lists.js";
import type { GpuHost } from "../host.js";
import { appendToLists, beginLists } from "./append.js";
import type { GroupedBatch } from "./group-batch.js";
import { ListState } from "./list-state.js";
import { expandLists, locateLists, lookUpLists } from "./read-lists.js";
import { dropLists, layLists, moveLists, strikeEntries } from "./rewrite.js";

type Numbers = DeviceArray<"u32">;

export class GpuLists<V extends BasicType> extends CountedLists<V, ListState> implements ValueLists<V> {
  /** Empty lists. @throws LimitError */
  static async create<V extends BasicType>(host: GpuHost, spec: ListSpec): Promise<GpuLists<V>> {
    return new GpuLists<V>(await ListState.create(host, spec));
  }

  /** The buffers, for users' own kernels, which keep them out of the pool. */
  get native(): readonly object[] {
    return this.state.share();
  }

  protected writeFirsts(
    numbers: Numbers,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
  ): Promise<void> {
    return beginLists(this.state, numbers, first, values, call);
  }

  protected writeLaid(offsets: Uint32Array, values: ColumnInput<V> | null): Promise<void> {
    return layLists(this.state, offsets, values);
  }

  append(numbers: Numbers, values: ColumnInput<V> | null, call: CallOptions): Promise<number | null> {
    return appendToLists(this.state, numbers, values, call);
  }

  /** Appends groups of equal keys: GroupedBatch.append. */
  async appendGroups(numbers: Numbers, batch: GroupedBatch<BasicType>, call: CallOptions) {
    return (await import("./append-groups.js")).appendGroups(this.state, numbers, batch, call);
  }

  async sizes(numbers: Numbers, output: Destination, call: CallOptions): Promise<ColumnOutput<"u32">> {
    const [sizes] = await lookUpLists(this.state, numbers, { what: "sizes" }, output, call);
    return sizes as ColumnOutput<"u32">;
  }

  async present(numbers: Numbers, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    const [found] = await lookUpLists(this.state, numbers, { what: "present" }, output, call);
    return found as ColumnOutput<"u8">;
  }

  async firsts(
    numbers: Numbers,
    keys: ColumnInput<BasicType> | null,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: ColumnOutput<V>; found: ColumnOutput<"u8"> }> {
    const asked = { what: "firsts", keys, missing } as const;
    const [values, found] = await lookUpLists(this.state, numbers, asked, output, call);
    return { values: values as ColumnOutput<V>, found: found as ColumnOutput<"u8"> };
  }

  drop(numbers: Numbers): Promise<number> {
    return dropLists(this.state, numbers);
  }

  locate(numbers: Numbers, options: LocateOptions, call: CallOptions): Promise<ListMatches> {
    return locateLists(this.state, numbers, options, call);
  }

  async expand<K extends BasicType>(
    matches: ListMatches,
    range: EntryRange,
    wanted: Wanted<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<Expanded<K, V>> {
    return (await expandLists(this.state, matches, range, wanted, missing, output, call)) as never;
  }

  strike(numbers: Numbers, matches: ListMatches, flags: DeviceArray<"u8">): Promise<number> {
    return strikeEntries(this.state, numbers, matches, flags);
  }

  async moved(numbers: Numbers, capacity: number): Promise<ValueLists<V>> {
    return new GpuLists<V>(await moveLists(this.state, numbers, capacity));
  }

  clear(): Promise<void> {
    return this.state.clear();
  }
}
