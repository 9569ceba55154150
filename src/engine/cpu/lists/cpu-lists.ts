/**
 * Lists of the cpu engine: the operations as loops (list-loops.ts) over one state, on the calling thread. Lists keep
 * the order of insertion.
 */
import type { DeviceArray } from "../../device-array.js";
import { isFloatWord } from "../../element-types.js";
import type { CallOptions, ColumnInput, ColumnOutput, Destination } from "../../engine.js";
import { CountedLists } from "../../list-counts.js";
import { asBits, type BasicType, scalarWords, wordsOf } from "../../scalars.js";
import {
  checkTotal,
  type EntryRange,
  type Expanded,
  type ListMatches,
  type LocateOptions,
  type ValueLists,
  type Wanted,
} from "../../value-lists.js";
import { Outputs } from "../memory/outputs.js";
import type { Inputs } from "../memory/storage.js";
import * as loops from "./list-loops.js";
import { hostOf, inPieces, withInputs } from "./list-run.js";
import { ListState } from "./list-state.js";

type Numbers = DeviceArray<"u32">;

const NO_WORDS = new Uint32Array(0);

export class CpuLists<V extends BasicType> extends CountedLists<V, ListState> implements ValueLists<V> {
  protected writeFirsts(
    numbers: Numbers,
    first: number,
    values: ColumnInput<V> | null,
    call: CallOptions,
  ): Promise<void> {
    const { used } = this.state;
    return withInputs(this.state.engine, null, (inputs) => {
      const mask = call.where ? inputs.mask(call.where) : null;
      const bits = values === null ? NO_WORDS : inputs.bits(values);
      const address = (number: number) => used + (number - first);
      return this.#over(numbers, {}, (lists, batch, piece) =>
        loops.beginLists(lists, batch, bits, mask, address, piece),
      );
    });
  }

  protected writeLaid(offsets: Uint32Array, values: ColumnInput<V> | null): Promise<void> {
    const { engine } = this.state;
    const lists = this.state.arrays();
    return withInputs(engine, null, async (inputs) => {
      await inPieces(engine, offsets.length - 1, {}, (piece) => loops.headLists(lists, offsets, piece));
      if (values !== null) lists.room.set(inputs.bits(values));
    });
  }

  async append(numbers: Numbers, values: ColumnInput<V> | null): Promise<number | null> {
    const { state } = this;
    let entries = 0;
    if (values === null) {
      await this.#over(numbers, {}, (lists, batch, piece) => {
        const counted = loops.countEntries(lists, batch, piece);
        entries += counted.entries;
        state.entries += counted.entries;
        state.filled += counted.filled;
      });
      return entries;
    }
    return withInputs(state.engine, null, async (inputs) => {
      const bits = inputs.bits(values);
      await this.#over(numbers, {}, (lists, batch, piece) => {
        entries += loops.tally(lists, batch, piece);
      });
      try {
        const growth = await state.growthFor(entries, (growth) => this.#measure(numbers, growth));
        if (growth === null) return null;
        await this.#over(numbers, {}, (lists, batch, piece) => {
          state.filled += loops.put(lists, batch, bits, growth, state, piece);
        });
        state.entries += entries;
        return entries;
      } finally {
        await this.#over(numbers, {}, loops.settle);
      }
    });
  }

  /** What the elements that were counted by list take. */
  async #measure(numbers: Numbers, growth: number): Promise<{ room: number; records: number }> {
    const need = { room: 0, records: 0 };
    await this.#over(numbers, {}, (lists, batch, piece) => loops.measure(lists, batch, growth, need, piece));
    await this.#over(numbers, {}, loops.settleSeen);
    return need;
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
      const given = { bits, words: scalarWords[key], isFloat: isFloatWord(key) };
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
      this.state.entries -= entries;
      this.state.filled -= filled;
    });
    return dropped;
  }

  async locate(numbers: Numbers, { outer }: Pick<LocateOptions, "outer">, call: CallOptions) {
    const { length } = numbers;
    const { engine } = this.state;
    const offsets = engine.newArray("u32", length + 1, true);
    const places = engine.newArray("u32", length, false);
    const to = { offsets: hostOf(offsets), places: hostOf(places) };
    let total = 0;
    try {
      await withInputs(engine, null, async (inputs) => {
        const mask = call.where && inputs.mask(call.where);
        const missingWhere = outer ? (row: number) => mask?.[row] !== 0 : null;
        await this.#over(numbers, call, (lists, batch, piece) => {
          total = loops.locate(lists, batch, missingWhere, to, total, piece);
        });
      });
      checkTotal(total);
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
    { first, count }: EntryRange,
    wanted: Wanted<K>,
    missing: number | bigint,
    output: Destination,
    call: CallOptions,
  ): Promise<Expanded<K, V>> {
    const { key, value } = this.spec;
    return this.#produce(output, async (outputs, inputs) => {
      const queries = wanted.queries ? outputs.make("u32", count) : null;
      const keys = wanted.keys ? outputs.make(key as K, count) : null;
      const values = wanted.values && value ? outputs.make(value as V, count) : null;
      const bits = wanted.keys ? inputs.bits(wanted.keys) : NO_WORDS;
      const words = scalarWords[key];
      const results: loops.Expansion = {
        queries: queries?.array ?? null,
        keys: keys && { bits, words, isFloat: isFloatWord(key), to: asBits(keys.array) },
        values: values && asBits(values.array),
        missing: wordsOf(value ?? key, missing),
      };
      const lists = this.state.arrays();
      const located = { offsets: hostOf(matches.offsets), places: hostOf(matches.places) };
      await inPieces(this.state.engine, count, call, ({ from, to }) =>
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
    const { heads, room, records, words } = this.state.arrays();
    const offsets = hostOf(matches.offsets);
    const struck = flags.storage.host as Uint8Array;
    let gone = 0;
    await inPieces(this.state.engine, numbers.length, {}, ({ from, to }) => {
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
        this.state.filled--;
      }
    });
    this.state.entries -= gone;
    return gone;
  }

  async moved(numbers: Numbers, capacity: number): Promise<ValueLists<V>> {
    const { engine, spec, filled } = this.state;
    const to = new ListState(engine, { ...spec, capacity });
    let matches: ListMatches | undefined;
    try {
      matches = await this.locate(numbers, { outer: false }, {});
      const { offsets, places, total } = matches;
      const [from, into] = [this.state.arrays(), to.arrays()];
      const located = { offsets: hostOf(offsets), places: hostOf(places) };
      await inPieces(engine, numbers.length, {}, (piece) => loops.headLists(into, located.offsets, piece));
      if (into.words > 0) {
        const results = { queries: null, keys: null, values: into.room, missing: [] };
        await inPieces(engine, total, {}, (piece) => loops.expand(from, located, results, 0, piece));
        to.used = total;
      }
      Object.assign(to, { entries: total, filled, taken: numbers.length });
      return new CpuLists<V>(to);
    } catch (error) {
      to.release();
      throw error;
    } finally {
      matches?.offsets.destroy();
      matches?.places.destroy();
    }
  }

  clear(): Promise<void> {
    return this.state.clear();
  }

  #over(
    numbers: Numbers,
    call: Pick<CallOptions, "signal" | "onProgress">,
    step: (lists: loops.ListArrays, batch: Uint32Array, piece: loops.Piece) => void,
  ): Promise<void> {
    const lists = this.state.arrays();
    const batch = hostOf(numbers);
    return inPieces(this.state.engine, batch.length, call, (piece) => step(lists, batch, piece));
  }

  #produce<T>(to: Destination, operation: (outputs: Outputs, inputs: Inputs) => Promise<T>): Promise<T> {
    const outputs = new Outputs(this.state.engine, to);
    return outputs.keepUnlessThrown(() =>
      withInputs(this.state.engine, null, (inputs) => operation(outputs, inputs)),
    );
  }
}
