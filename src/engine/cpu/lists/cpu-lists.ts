/** Lists of the cpu engine: their memory, and the operations as loops over pieces, on the calling thread. Lists keep the order of insertion. */

import { LimitError } from "../../../errors.js";
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import {
  asBits,
  asBytes,
  type BasicType,
  type ScalarArrays,
  type ScalarType,
  scalarWords,
  wordsOf,
} from "../../scalars.js";
import {
  GROWTH,
  type ListMatches,
  type ListOperations,
  type ListSpec,
  NO_LIST,
  numbersFor,
  RECORD_WORDS,
  roomFor,
  type ValueLists,
  type Wanted,
} from "../../value-lists.js";
import type { CpuEngine } from "../cpu-engine.js";
import { Outputs } from "../memory/outputs.js";
import { Inputs } from "../memory/storage.js";
import { inChunks } from "../table/chunks.js";
import * as loops from "./list-loops.js";

type Numbers = DeviceArray<"u32">;
type Words = DeviceArray<"u32">;

/** Elements between two looks at the clock: a millisecond or less. */
const PIECE = 2 ** 14;
/** Records that there is memory for at first, by the entries there can be: one for so many. */
const ENTRIES_PER_RECORD = 16;
/** Most entries of a result: offsets have 32 bits. */
const MOST_ENTRIES = 2 ** 32 - 2;
const NO_WORDS = new Uint32Array(0);

export class CpuListOperations implements ListOperations {
  readonly none = NO_LIST;
  constructor(private readonly engine: CpuEngine) {}

  async create<V extends BasicType>(spec: ListSpec): Promise<ValueLists<V>> {
    this.engine.guard();
    return new CpuLists<V>(this.engine, spec);
  }

  async number(first: number, length: number, where: ColumnInput<"u8"> | undefined) {
    const { engine } = this;
    const numbers = engine.newArray("u32", length, false);
    const words = hostOf(numbers);
    let next = first;
    await withInputs(engine, numbers, async (inputs) => {
      const mask = where && inputs.mask(where);
      await inPieces(engine, length, {}, ({ from, to }) => {
        for (let row = from; row < to; row++) {
          words[row] = next;
          if (mask?.[row] !== 0) next++;
        }
      });
    });
    return { numbers, selected: next - first };
  }

  async copied<T extends ScalarType>(type: T, input: ColumnInput<T>): Promise<DeviceArray<T>> {
    const copy = this.engine.newArray(type, input.length, false);
    await withInputs(this.engine, copy, async (inputs) => {
      // of any type: masks are bytes
      asBytes(copy.storage.host as ScalarArrays[T]).set(inputs.mask(input as ColumnInput<"u8">));
    });
    return copy;
  }

  async pair(numbers: Numbers, _type: BasicType, lower: ColumnInput<BasicType>): Promise<DeviceArray<"u64">> {
    const { engine } = this;
    const pairs = engine.newArray("u64", numbers.length, false);
    const words = asBits(pairs.storage.host as BigUint64Array);
    await withInputs(engine, pairs, async (inputs) => {
      const [low, high] = [inputs.bits(lower), hostOf(numbers)];
      await inPieces(engine, high.length, {}, ({ from, to }) => {
        for (let row = from; row < to; row++) {
          words[2 * row] = low[row];
          words[2 * row + 1] = high[row];
        }
      });
    });
    return pairs;
  }
}

class CpuLists<V extends BasicType> implements ValueLists<V> {
  entries = 0;
  filled = 0;
  taken = 0;
  readonly numbers: number;
  readonly #engine: CpuEngine;
  readonly #unused: loops.Unused = { used: 0, recordsUsed: 0 };
  readonly #heads: Words;
  readonly #added: Words | null = null;
  readonly #room: Words | null = null;
  #records: Words | null = null;
  #users = 1;
  #destroyed = false;

  constructor(
    engine: CpuEngine,
    readonly spec: ListSpec,
  ) {
    const { capacity, value } = spec;
    this.#engine = engine;
    this.numbers = numbersFor(capacity);
    this.#heads = engine.newArray("u32", this.numbers * (value === null ? 1 : 2), true);
    try {
      if (value === null) return;
      this.#added = engine.newArray("u32", this.numbers, true);
      this.#room = engine.newArray("u32", roomFor(capacity) * scalarWords[value], false);
      const records = 64 + Math.ceil(capacity / ENTRIES_PER_RECORD);
      this.#records = engine.newArray("u32", records * RECORD_WORDS, false);
    } catch (error) {
      this.destroy();
      throw error;
    }
  }

  get bytes(): number {
    return this.#parts.reduce((sum, { length }) => sum + 4 * length, 0);
  }

  get held(): boolean {
    return this.#users > 1;
  }

  take(end: number): void {
    this.taken = end;
  }

  async begin(
    numbers: Numbers,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
    selected: number,
  ) {
    const lists = this.#arrays();
    const { used } = this.#unused;
    if (lists.words > 0 && used + selected > roomFor(this.spec.capacity)) return false;
    await withInputs(this.#engine, null, async (inputs) => {
      const mask = call.where ? inputs.mask(call.where) : null;
      const bits = values === null ? NO_WORDS : inputs.bits(values);
      const address = (number: number) => used + (number - first);
      await inPieces(this.#engine, numbers.length, {}, (piece) =>
        loops.beginLists(lists, hostOf(numbers), bits, mask, address, piece),
      );
    });
    this.entries += selected;
    this.filled += selected;
    if (lists.words > 0) this.#unused.used += selected;
    return true;
  }

  async append(numbers: Numbers, values: ColumnInput<V> | null): Promise<number | null> {
    const lists = this.#arrays();
    const batch = hostOf(numbers);
    const over = (step: (piece: loops.Piece) => void) => inPieces(this.#engine, batch.length, {}, step);
    let entries = 0;
    if (values === null) {
      await over((piece) => {
        const counted = loops.countEntries(lists, batch, piece);
        entries += counted.entries;
        this.entries += counted.entries;
        this.filled += counted.filled;
      });
      return entries;
    }
    return withInputs(this.#engine, null, async (inputs) => {
      const bits = inputs.bits(values);
      await over((piece) => {
        entries += loops.tally(lists, batch, piece);
      });
      try {
        const growth = await this.#growth(lists, batch, entries);
        if (growth === null) return null;
        // its records may be others now
        const roomy = this.#arrays();
        await over((piece) => {
          this.filled += loops.put(roomy, batch, bits, growth, this.#unused, piece);
        });
        this.entries += entries;
        return entries;
      } finally {
        await over((piece) => loops.settle(lists, batch, piece));
      }
    });
  }

  /** How much longer pieces become, with memory for their records; null when the room does not last. */
  async #growth(lists: loops.ListArrays, batch: Uint32Array, entries: number): Promise<number | null> {
    const { used, recordsUsed } = this.#unused;
    const room = roomFor(this.spec.capacity);
    const [usual] = GROWTH;
    const recordRoom = lists.records.length / RECORD_WORDS;
    const surely = used + entries + Math.floor(used / usual) <= room;
    if (surely && recordsUsed + 2 * Math.min(entries, this.filled) <= recordRoom) return usual;
    for (const growth of GROWTH) {
      const need = { room: 0, records: 0 };
      const over = (step: (piece: loops.Piece) => void) => inPieces(this.#engine, batch.length, {}, step);
      await over((piece) => loops.measure(lists, batch, growth, need, piece));
      await over((piece) => loops.settleSeen(lists, batch, piece));
      if (used + need.room > room) continue;
      this.#reserveRecords(recordsUsed + need.records);
      return growth;
    }
    return null;
  }

  #reserveRecords(records: number): void {
    const old = this.#records as Words;
    if (records * RECORD_WORDS <= old.length) return;
    this.#records = this.#engine.newArray("u32", Math.max(records * RECORD_WORDS, 2 * old.length), false);
    hostOf(this.#records).set(hostOf(old));
    old.destroy();
  }

  async sizes(numbers: Numbers, output: Destination, call: CallOptions): Promise<ColumnOutput<"u32">> {
    return this.#produce(output, async (outputs) => {
      const sizes = outputs.make("u32", numbers.length);
      await this.#over(numbers, call, (lists, batch, piece) =>
        loops.readSizes(lists, batch, { sizes: sizes.array }, piece),
      );
      return sizes.output;
    });
  }

  async present(numbers: Numbers, output: Destination, call: CallOptions): Promise<ColumnOutput<"u8">> {
    return this.#produce(output, async (outputs) => {
      const found = outputs.make("u8", numbers.length);
      await this.#over(numbers, call, (lists, batch, piece) =>
        loops.readSizes(lists, batch, { found: found.array }, piece),
      );
      return found.output;
    });
  }

  async firsts(
    numbers: Numbers,
    keys: ColumnInput<BasicType> | null,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{ values: ColumnOutput<V>; found: ColumnOutput<"u8"> }> {
    const { key, value } = this.spec;
    const type = (value ?? key) as V;
    return this.#produce(output, async (outputs, inputs) => {
      const values = outputs.make(type, numbers.length, wordsOf(type, missing));
      const found = outputs.make("u8", numbers.length);
      const bits = keys === null ? NO_WORDS : inputs.bits(keys);
      const given = { bits, words: scalarWords[key], isFloat: key === "f32" };
      await this.#over(numbers, call, (lists, batch, piece) => {
        loops.readSizes(lists, batch, { found: found.array }, piece);
        loops.readFirsts(lists, batch, given, asBits(values.array), piece);
      });
      return { values: values.output, found: found.output };
    });
  }

  async drop(numbers: Numbers): Promise<number> {
    let dropped = 0;
    await this.#over(numbers, {}, (lists, batch, piece) => {
      const { entries, filled } = loops.dropLists(lists, batch, piece);
      dropped += entries;
      this.entries -= entries;
      this.filled -= filled;
    });
    return dropped;
  }

  async locate(
    numbers: Numbers,
    { outer }: { readonly outer: boolean },
    call: CallOptions,
  ): Promise<ListMatches> {
    const { length } = numbers;
    const offsets = this.#engine.newArray("u32", length + 1, true);
    const places = this.#engine.newArray("u32", length, false);
    const to = { offsets: hostOf(offsets), places: hostOf(places) };
    let total = 0;
    try {
      await withInputs(this.#engine, null, async (inputs) => {
        const mask = call.where && inputs.mask(call.where);
        const missingWhere = outer ? (row: number) => mask?.[row] !== 0 : null;
        await this.#over(numbers, call, (lists, batch, piece) => {
          total = loops.locate(lists, batch, missingWhere, to, total, piece);
        });
      });
      if (total > MOST_ENTRIES) {
        const fix = "Retrieve fewer keys at a time, or in pieces with retrieveChunks.";
        throw new LimitError("rows", total, MOST_ENTRIES, fix);
      }
      to.offsets[length] = total;
      return { offsets, places, total };
    } catch (error) {
      offsets.destroy();
      places.destroy();
      throw error;
    }
  }

  async expand<K extends BasicType>(
    matches: ListMatches,
    { first, count }: { readonly first: number; readonly count: number },
    wanted: Wanted<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<{
    queries: ColumnOutput<"u32"> | null;
    keys: ColumnOutput<K> | null;
    values: ColumnOutput<V> | null;
  }> {
    const { key, value } = this.spec;
    return this.#produce(output, async (outputs, inputs) => {
      const queries = wanted.queries ? outputs.make("u32", count) : null;
      const keys = wanted.keys ? outputs.make(key as K, count) : null;
      const values = wanted.values && value ? outputs.make(value as V, count) : null;
      const bits = wanted.keys ? inputs.bits(wanted.keys) : NO_WORDS;
      const words = scalarWords[key];
      const results: loops.Expansion = {
        queries: queries?.array ?? null,
        keys: keys && { bits, words, isFloat: key === "f32", to: asBits(keys.array) },
        values: values && asBits(values.array),
        missing: wordsOf(value ?? key, missing),
      };
      const lists = this.#arrays();
      const located = { offsets: hostOf(matches.offsets), places: hostOf(matches.places) };
      await inPieces(this.#engine, count, call, ({ from, to }) =>
        loops.expand(lists, located, results, first, { from: first + from, to: first + to }),
      );
      return {
        queries: queries?.output ?? null,
        keys: keys?.output ?? null,
        values: values?.output ?? null,
      };
    });
  }

  async strike(numbers: Numbers, matches: ListMatches, flags: DeviceArray<"u8">): Promise<number> {
    const { heads, room, records, words } = this.#arrays();
    const offsets = hostOf(matches.offsets);
    const struck = flags.storage.host as Uint8Array;
    let gone = 0;
    await inPieces(this.#engine, numbers.length, {}, ({ from, to }) => {
      for (let row = from; row < to; row++) {
        const number = hostOf(numbers)[row];
        const [start, end] = [offsets[row], offsets[row + 1]];
        if (start === end) continue;
        let length = 0;
        for (let entry = start; entry < end; entry++) {
          if (struck[entry] !== 0) continue;
          const old = loops.addressOf(records, heads[2 * number + 1], entry - start) * words;
          const now = loops.addressOf(records, heads[2 * number + 1], length++) * words;
          room.copyWithin(now, old, old + words);
        }
        gone += end - start - length;
        heads[2 * number] = length;
        if (length > 0) continue;
        heads[2 * number + 1] = 0;
        this.filled--;
      }
    });
    this.entries -= gone;
    return gone;
  }

  async moved(numbers: Numbers, capacity: number): Promise<ValueLists<V>> {
    const to = new CpuLists<V>(this.#engine, { ...this.spec, capacity });
    let matches: ListMatches | undefined;
    try {
      matches = await this.locate(numbers, { outer: false }, {});
      const { offsets, places, total } = matches;
      const [from, into] = [this.#arrays(), to.#arrays()];
      const located = { offsets: hostOf(offsets), places: hostOf(places) };
      await inPieces(this.#engine, numbers.length, {}, (piece) => {
        for (let list = piece.from; list < piece.to; list++) {
          into.heads[list * into.head] = located.offsets[list + 1] - located.offsets[list];
          if (into.head === 2) into.heads[2 * list + 1] = located.offsets[list];
        }
      });
      if (into.words > 0) {
        const results = { queries: null, keys: null, values: into.room, missing: [] };
        await inPieces(this.#engine, total, {}, (piece) => loops.expand(from, located, results, 0, piece));
        to.#unused.used = total;
      }
      Object.assign(to, { entries: total, filled: this.filled, taken: numbers.length });
      return to;
    } catch (error) {
      to.destroy();
      throw error;
    } finally {
      matches?.offsets.destroy();
      matches?.places.destroy();
    }
  }

  async clear(): Promise<void> {
    const { heads } = this.#arrays();
    await inPieces(this.#engine, heads.length, {}, ({ from, to }) => heads.fill(0, from, to));
    Object.assign(this, { entries: 0, filled: 0, taken: 0 });
    Object.assign(this.#unused, { used: 0, recordsUsed: 0 });
  }

  hold(): () => void {
    this.#users++;
    return () => this.#release();
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#release();
  }

  #release(): void {
    if (--this.#users === 0) for (const part of this.#parts) part.destroy();
  }

  get #parts(): Words[] {
    return [this.#heads, this.#added, this.#room, this.#records].filter((part) => part !== null);
  }

  #arrays(): loops.ListArrays {
    const { value } = this.spec;
    const words = (part: Words | null) => (part === null ? NO_WORDS : hostOf(part));
    return {
      heads: hostOf(this.#heads),
      head: value === null ? 1 : 2,
      added: words(this.#added),
      room: words(this.#room),
      words: value === null ? 0 : scalarWords[value],
      records: words(this.#records),
    };
  }

  #over(
    numbers: Numbers,
    call: Pick<CallOptions, "signal" | "onProgress">,
    step: (lists: loops.ListArrays, batch: Uint32Array, piece: loops.Piece) => void,
  ): Promise<void> {
    const lists = this.#arrays();
    const batch = hostOf(numbers);
    return inPieces(this.#engine, batch.length, call, (piece) => step(lists, batch, piece));
  }

  #produce<T>(to: Destination, operation: (outputs: Outputs, inputs: Inputs) => Promise<T>): Promise<T> {
    const outputs = new Outputs(this.#engine, to);
    return outputs.keepUnlessThrown(() =>
      withInputs(this.#engine, null, (inputs) => operation(outputs, inputs)),
    );
  }
}

function hostOf(array: DeviceArray<"u32">): Uint32Array {
  return array.storage.host as Uint32Array;
}

/** Runs an operation with inputs that are kept in place; when it throws, frees what it was to fill. */
async function withInputs<T>(
  engine: CpuEngine,
  filled: { destroy(): void } | null,
  operation: (inputs: Inputs) => Promise<T>,
): Promise<T> {
  const inputs = new Inputs(engine);
  try {
    return await operation(inputs);
  } catch (error) {
    filled?.destroy();
    throw error;
  } finally {
    inputs.release();
  }
}

/** Goes over elements a piece at a time; the event loop gets turns. */
function inPieces(
  engine: CpuEngine,
  elements: number,
  call: Pick<CallOptions, "signal" | "onProgress">,
  step: (piece: loops.Piece) => void,
): Promise<void> {
  return inChunks(
    elements,
    call,
    () => engine.guard(),
    (from) => {
      const to = Math.min(elements, from + PIECE);
      if (to > from) step({ from, to });
      return to;
    },
  );
}
