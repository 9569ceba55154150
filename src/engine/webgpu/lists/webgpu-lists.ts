/** Lists on the GPU: the operations, each in a file beside this one, over one state. */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import type { ListMatches, ListSpec, ValueLists, Wanted } from "../../value-lists.js";
import { appendToLists, beginLists } from "./append.js";
import type { ListHost } from "./list-run.js";
import { ListState } from "./list-state.js";
import { expandLists, locateLists, lookUpLists } from "./read-lists.js";
import { dropLists, moveLists, strikeEntries } from "./rewrite.js";

type Numbers = DeviceArray<"u32">;

export class WebgpuLists<V extends BasicType> implements ValueLists<V> {
  #destroyed = false;

  private constructor(private readonly state: ListState) {}

  /** Empty lists. @throws LimitError */
  static async create<V extends BasicType>(host: ListHost, spec: ListSpec): Promise<WebgpuLists<V>> {
    return new WebgpuLists<V>(await ListState.create(host, spec));
  }

  get spec(): ListSpec {
    return this.state.spec;
  }
  get entries(): number {
    return this.state.entries;
  }
  get filled(): number {
    return this.state.filled;
  }
  get taken(): number {
    return this.state.taken;
  }
  get numbers(): number {
    return this.state.numbers;
  }
  get bytes(): number {
    return this.state.bytes;
  }
  get held(): boolean {
    return this.state.held;
  }

  take(end: number): void {
    this.state.taken = end;
  }

  async begin(
    numbers: Numbers,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
    selected: number,
  ) {
    const { state } = this;
    if (values !== null && state.used + selected > state.room) return false;
    await beginLists(state, numbers, first, values, call);
    state.entries += selected;
    state.filled += selected;
    if (values !== null) state.used += selected;
    return true;
  }

  append(numbers: Numbers, values: ColumnInput<V> | null, call: CallOptions): Promise<number | null> {
    return appendToLists(this.state, numbers, values, call);
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

  locate(
    numbers: Numbers,
    options: { readonly outer: boolean; readonly bytes: number; readonly to: Destination },
    call: CallOptions,
  ): Promise<ListMatches> {
    return locateLists(this.state, numbers, options, call);
  }

  async expand<K extends BasicType>(
    matches: ListMatches,
    range: { readonly first: number; readonly count: number },
    wanted: Wanted<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{
    queries: ColumnOutput<"u32"> | null;
    keys: ColumnOutput<K> | null;
    values: ColumnOutput<V> | null;
  }> {
    return (await expandLists(this.state, matches, range, wanted, missing, output, call)) as never;
  }

  strike(numbers: Numbers, matches: ListMatches, flags: DeviceArray<"u8">): Promise<number> {
    return strikeEntries(this.state, numbers, matches, flags);
  }

  async moved(numbers: Numbers, capacity: number): Promise<ValueLists<V>> {
    return new WebgpuLists<V>(await moveLists(this.state, numbers, capacity));
  }

  clear(): Promise<void> {
    return this.state.clear();
  }

  hold(): () => void {
    this.state.retain();
    return () => this.state.release();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.state.release();
  }
}
