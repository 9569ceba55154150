/**
 * A dictionary of the cpu engine. A batch is looked up block by block; strings that have no number yet are put in by
 * the calling thread, in input order, so numbers do not depend on threads. Invariant: every number below `#used` that
 * begins a record was given to one string, also after an error.
 */
import { LimitError } from "../../../errors.js";
import type { Allocation } from "../../../host/memory.js";
import { TURN_MS } from "../../../host/work.js";
import type { DeviceArray } from "../../device-array.js";
import {
  type Dictionary,
  type DictionaryCall,
  type DictionarySpec,
  MOST_ARENA_WORDS,
  NO_NUMBER,
} from "../../dictionary.js";
import { type Keying, keyingOf } from "../../hash-seed.js";
import { readRecords } from "../../records.js";
import type { Utf8Column } from "../../utf8-column.js";
import type { CpuEngine } from "../cpu-engine.js";
import { KeyTree } from "../groups/key-tree.js";
import { Inputs } from "../memory/storage.js";
import { Pace } from "../rows/pace.js";
import { inChunks } from "../table/chunks.js";
import {
  addRecord,
  BLOCK,
  blockEnd,
  hashBlock,
  lookUpBlock,
  moveSlots,
  numberOf,
  place,
  recordWords,
  type Strings,
  type StringTable,
  writeRecord,
} from "./string-table.js";
import { stringThreads } from "./string-threads.js";

/** Slots of a dictionary without strings. */
const FIRST_SLOTS = 1024;
/** Words of its arena. */
const FIRST_WORDS = 4096;
/** Records that are copied before the event loop may get its turn. */
const RECORDS_AT_ONCE = 2 ** 16;

/** Elements of a batch, and their hashes. */
interface HashedBlock {
  readonly from: number;
  readonly to: number;
  readonly hashes: Uint32Array;
}

export class CpuDictionary implements Dictionary {
  #slots: Allocation;
  #arena: Allocation;
  #table: StringTable;
  #tree = new KeyTree();
  readonly #keying: Keying;
  #strings = 0;
  /** Words of the arena that records take. */
  #used = 0;
  #destroyed = false;
  readonly #hashes = new Uint32Array(BLOCK);

  /** @param room strings, and words of records, that it is to have room for */
  constructor(
    private readonly engine: CpuEngine,
    readonly spec: DictionarySpec,
    room = { strings: 0, words: 0 },
  ) {
    this.#keying = keyingOf(spec.seed || engine.hashSeed);
    const slots = slotsFor(room.strings);
    const words = Math.max(FIRST_WORDS, room.words);
    this.#slots = engine.buffers.allocate(slots * 8, true);
    try {
      this.#arena = engine.buffers.allocate(words * 4, false);
    } catch (error) {
      this.#slots.release();
      throw error;
    }
    this.#table = this.#tableOf(slots, words);
  }

  get strings(): number {
    return this.#strings;
  }

  get usedBytes(): number {
    return this.#used * 4;
  }

  get bytes(): number {
    return this.#slots.bytes + this.#arena.bytes;
  }

  add(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">> {
    return this.#number(strings, call, (batch, numbers, block) => this.#addBlock(batch, numbers, block));
  }

  lookUp(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">> {
    return this.#number(strings, call, () => {});
  }

  /** Looks a batch up; `complete` is told of blocks of elements among which some have no number. */
  async #number(
    { offsets, bytes, length }: Utf8Column,
    { where, ...looked }: DictionaryCall,
    complete: (batch: Strings, numbers: Uint32Array, block: HashedBlock) => void,
  ): Promise<DeviceArray<"u32">> {
    const engine = this.engine;
    engine.guard();
    const inputs = new Inputs(engine);
    const array = engine.newArray("u32", length, false);
    const threads = stringThreads(engine);
    try {
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const batch = { offsets, bytes, view, where: where === undefined ? null : inputs.mask(where) };
      const numbers = array.storage.host as Uint32Array;
      await inChunks(length, looked, this.#guard, (from) => {
        const to = threads.chunkEnd(batch, from, length);
        if (to === from) return this.#alone(batch, numbers, from, complete);
        return threads.lookUp(this.#table, batch, numbers, from, to, async ({ absent, hashes, chunk }) => {
          const pace = new Pace({ signal: looked.signal }, 0, this.#guard);
          const those = numbers.subarray(from, to);
          for (let first = 0; absent > 0 && first < those.length; first += BLOCK) {
            await pace.turn();
            this.#guard();
            const end = Math.min(those.length, first + BLOCK);
            // what was hashed is stored: the caller may have written to the batch meanwhile
            complete(chunk, those, { from: first, to: end, hashes: hashes.subarray(first) });
          }
          return to;
        });
      });
      return array;
    } catch (error) {
      array.destroy();
      throw error;
    } finally {
      inputs.release();
    }
  }

  /** Looks some blocks up on the calling thread; answers where it stopped. */
  #alone(
    batch: Strings,
    numbers: Uint32Array,
    first: number,
    complete: (batch: Strings, numbers: Uint32Array, block: HashedBlock) => void,
  ): number {
    const hashes = this.#hashes;
    const { length } = numbers;
    const start = performance.now();
    let from = first;
    while (from < length && performance.now() - start < TURN_MS) {
      const to = blockEnd(batch, from, length);
      hashBlock(this.#table, batch, from, to, hashes);
      const absent = lookUpBlock(this.#table, batch, hashes, numbers, from, to, NO_NUMBER);
      if (absent > 0) complete(batch, numbers, { from, to, hashes });
      from = to;
    }
    return from;
  }

  /** Gives a number to the elements of a block that have none. */
  #addBlock(batch: Strings, numbers: Uint32Array, { from, to, hashes }: HashedBlock): void {
    const { offsets, view } = batch;
    for (let i = from; i < to; i++) {
      if (numbers[i] !== NO_NUMBER) continue;
      const start = offsets[i];
      const length = offsets[i + 1] - start;
      const hash = hashes[i - from];
      const number = numberOf(this.#table, this.#tree, hash, view, start, length);
      numbers[i] = number > 0 ? number - 1 : this.#addString(batch, hash, start, length);
    }
  }

  /** Gives a string a number; answers it. */
  #addString(batch: Strings, hash: number, start: number, length: number): number {
    const number = this.#used;
    const words = recordWords(length);
    this.#ensureWords(number + words);
    this.#ensureSlots(this.#strings + 1);
    writeRecord(this.#table.arena, number, batch, start, length);
    place(this.#table, this.#tree, hash, number);
    this.#used += words;
    this.#strings++;
    return number;
  }

  async read(numbers: Uint32Array): Promise<Utf8Column> {
    this.#guard();
    return readRecords(this.#table.arena, numbers);
  }

  async compact(numbers: DeviceArray<"u32">, seed = this.spec.seed) {
    this.#guard();
    const { arena } = this.#table;
    const records = numbers.storage.host as Uint32Array;
    let words = 0;
    for (const record of records) words += recordWords(arena[record]);
    const dictionary = new CpuDictionary(
      this.engine,
      { ...this.spec, seed },
      { strings: records.length, words },
    );
    const array = this.engine.newArray("u32", records.length, false);
    try {
      const moved = array.storage.host as Uint32Array;
      const target = dictionary.#table.arena;
      const view = new DataView(target.buffer, target.byteOffset, target.byteLength);
      await inChunks(records.length, {}, this.#guard, (from) => {
        const to = Math.min(records.length, from + RECORDS_AT_ONCE);
        for (let i = from; i < to; i++) moved[i] = dictionary.#copyRecord(view, arena, records[i]);
        return to;
      });
      return { dictionary, numbers: array };
    } catch (error) {
      array.destroy();
      dictionary.destroy();
      throw error;
    }
  }

  /**
   * Copies a record of another arena, whose string is not here yet, to where there is room for it; answers its number.
   */
  #copyRecord(view: DataView, from: Uint32Array, record: number): number {
    const number = this.#used;
    this.#used += addRecord(this.#table, this.#tree, view, number, from, record);
    this.#strings++;
    return number;
  }

  async clear(): Promise<void> {
    this.#guard();
    this.#table.slots.fill(0);
    this.#tree.clear();
    this.#strings = this.#used = 0;
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    this.#slots.release();
    this.#arena.release();
  }

  readonly #guard = (): void => this.engine.guard();

  #tableOf(slots: number, words: number): StringTable {
    return {
      slots: new Uint32Array(this.#slots.buffer, 0, slots * 2),
      arena: new Uint32Array(this.#arena.buffer, 0, words),
      tree: this.#tree,
      spec: this.spec,
      keying: this.#keying,
    };
  }

  /** Makes room for so many strings. */
  #ensureSlots(strings: number): void {
    const table = this.#table;
    if (4 * strings <= table.slots.length) return;
    const wanted = slotsFor(strings);
    const old = this.#slots;
    this.#slots = this.engine.buffers.allocate(wanted * 8, true);
    this.#tree = new KeyTree();
    this.#table = this.#tableOf(wanted, table.arena.length);
    moveSlots(table, this.#table, this.#tree);
    old.release();
  }

  /** Makes the arena large enough for so many words: twice what it was, or what is needed. */
  #ensureWords(words: number): void {
    const { slots, arena } = this.#table;
    if (words <= arena.length) return;
    if (words > MOST_ARENA_WORDS) {
      throw new LimitError("strings", words * 4, MOST_ARENA_WORDS * 4, "Split the keys over several tables.");
    }
    const wanted = Math.max(words, Math.min(arena.length * 2, MOST_ARENA_WORDS));
    const old = this.#arena;
    this.#arena = this.engine.buffers.allocate(wanted * 4, false);
    this.#table = this.#tableOf(slots.length / 2, wanted);
    this.#table.arena.set(arena.subarray(0, this.#used));
    old.release();
  }
}

/** Slots for so many strings: a power of two of which at most half are taken. */
function slotsFor(strings: number): number {
  return Math.max(FIRST_SLOTS, 2 ** Math.ceil(Math.log2(Math.max(1, 2 * strings))));
}
