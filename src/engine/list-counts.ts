/**
 * What lists (value-lists.ts) are on the host, whatever the engine: how large they are, how much of that is in use, who
 * has their memory, and how much longer a list becomes when it grows. The memory itself is an engine's, and so are the
 * loops or kernels over it.
 */
import type { DeviceArray } from "./device-array.js";
import type { CallOptions, ColumnInput } from "./engine.js";
import { type BasicType, scalarWords } from "./scalars.js";
import { GROWTH, type ListSpec, numbersFor, roomFor, type ValueLists } from "./value-lists.js";

/** The counts of lists; an engine adds the memory. */
export abstract class ListCounts {
  /** Entries of all lists, and lists that have some. */
  entries = 0;
  filled = 0;
  /** Numbers, room and records that are in use. */
  taken = 0;
  used = 0;
  recordsUsed = 0;
  readonly numbers: number;
  readonly room: number;
  /** Words of a value: 0 where there are none. */
  readonly valueWords: number;
  /** Words of a head. */
  readonly head: 1 | 2;
  #users = 1;

  constructor(readonly spec: ListSpec) {
    const { capacity, value } = spec;
    this.numbers = numbersFor(capacity);
    this.room = roomFor(capacity);
    this.valueWords = value === null ? 0 : scalarWords[value];
    this.head = value === null ? 1 : 2;
  }

  /** Bytes of all memory. */
  abstract get bytes(): number;

  /** Records that there is memory for. */
  abstract get recordRoom(): number;

  /** Makes memory for so many records. @throws LimitError, and nothing was changed */
  abstract reserveRecords(records: number): Promise<void>;

  /** Frees the memory. */
  protected abstract free(): void;

  get held(): boolean {
    return this.#users > 1;
  }

  retain(): void {
    this.#users++;
  }

  /** Frees the memory when nobody else has it. */
  release(): void {
    if (--this.#users === 0) this.free();
  }

  /** Says that all lists are empty, and no number is taken. */
  reset(): void {
    Object.assign(this, { entries: 0, filled: 0, taken: 0, used: 0, recordsUsed: 0 });
  }

  /** The usual growth, where so many entries have room and records by it whatever lists they are of; else null. */
  sureGrowth(entries: number): number | null {
    const { used, room, filled, recordsUsed, recordRoom } = this;
    const [usual] = GROWTH;
    const fits = used + entries + Math.floor(used / usual) <= room;
    return fits && recordsUsed + 2 * Math.min(entries, filled) <= recordRoom ? usual : null;
  }

  /**
   * How much longer pieces become when so many entries are appended, with memory for their records; null when the room
   * does not last.
   * @param measure what making room takes by such a growth
   */
  async growthFor(
    entries: number,
    measure: (growth: number) => Promise<{ readonly room: number; readonly records: number }>,
  ): Promise<number | null> {
    const { used, room, recordsUsed } = this;
    const surely = this.sureGrowth(entries);
    if (surely !== null) return surely;
    for (const growth of GROWTH) {
      const need = await measure(growth);
      if (used + need.room > room) continue;
      await this.reserveRecords(recordsUsed + need.records);
      return growth;
    }
    return null;
  }
}

/** What all engines' lists do alike, by their counts. */
export abstract class CountedLists<V extends BasicType, S extends ListCounts>
  implements
    Pick<
      ValueLists<V>,
      | "spec"
      | "entries"
      | "filled"
      | "taken"
      | "numbers"
      | "bytes"
      | "held"
      | "take"
      | "begin"
      | "lay"
      | "hold"
      | "destroy"
    >
{
  #destroyed = false;

  constructor(protected readonly state: S) {}

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
    numbers: DeviceArray<"u32">,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
    selected: number,
  ): Promise<boolean> {
    const { state } = this;
    const isValued = state.valueWords > 0;
    if (isValued && state.used + selected > state.room) return false;
    await this.writeFirsts(numbers, first, values, call);
    state.entries += selected;
    state.filled += selected;
    if (isValued) state.used += selected;
    return true;
  }

  /**
   * Writes the heads and values of new lists of one entry; the value of number `first` goes to the first room that is
   * not in use.
   */
  protected abstract writeFirsts(
    numbers: DeviceArray<"u32">,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
  ): Promise<void>;

  async lay(offsets: Uint32Array, values: ColumnInput<V> | null): Promise<void> {
    const { state } = this;
    const lists = offsets.length - 1;
    await this.writeLaid(offsets, values);
    const entries = offsets[lists];
    Object.assign(state, { entries, filled: lists, taken: lists, used: values === null ? 0 : entries });
  }

  /** Writes the heads of lists that lie one after another from the beginning of the room, and their values. */
  protected abstract writeLaid(offsets: Uint32Array, values: ColumnInput<V> | null): Promise<void>;

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
