/**
 * A dictionary on the GPU. A batch goes chunk by chunk: its strings are uploaded, and each finds its slot, or claims
 * one; what was claimed is settled, and the numbers are written. Before a chunk there is room for all strings that may
 * be new in it, so kernels never meet a full table or a full arena.
 */
import { EngineError, LimitError } from "../../../errors.js";
import type { DeviceArray } from "../../device-array.js";
import type { Dictionary, DictionaryCall, DictionarySpec } from "../../dictionary.js";
import { hashNames } from "../../hash-names.js";
import { type Keying, keyingOf } from "../../hash-seed.js";
import { EMPTY } from "../../layout.js";
import { readRecords } from "../../records.js";
import { asBytes } from "../../scalars.js";
import type { Utf8Column } from "../../utf8-column.js";
import { bindAt, type Column, newArray, placeOf, Scratch } from "../batch/columns.js";
import { checkBinding } from "../check-binding.js";
import { filling } from "../fill.js";
import type { GpuHost } from "../host.js";
import { readBytes } from "../memory/read-bytes.js";
import type { GpuBuffer, Range, Recorder } from "../runtime.js";
import { dictionaryCounters, dictionaryKernels, WORKGROUP } from "./dictionary-kernels.js";
import { piecesOf } from "./pieces.js";

/** Slots of a dictionary without strings. */
const FIRST_SLOTS = 4096;
/** Words of its arena. */
const FIRST_WORDS = 2 ** 14;
/**
 * Dispatches over a chunk from which on probes are too long for hashes that are random, at the load of 0.5: see BUDGET
 * in probe.wgsl.
 */
const LONG_ROUNDS = 2;
const ALL_BITS = 0xffffffff;
/** Most slots: places.wgsl has other numbers above. */
const MOST_SLOTS = 2 ** 29;

interface BoundStrings {
  readonly count: number;
  readonly offsets: Column;
  readonly bytes: Range;
  /** What the first byte of `bytes` has for an offset. */
  readonly base: number;
  /** `offsets` holds numbers of records, and `bytes` is their arena. */
  readonly records: boolean;
  readonly mask: Column | undefined;
  readonly numbers: Column;
  readonly places: Range;
}

export class GpuDictionary implements Dictionary {
  #strings = 0;
  #used = 0;
  #destroyed = false;
  /** What words are hashed as. */
  #keying: Keying;
  /** The seed was given up, since the table grew last. */
  #isReseeded = false;

  /** @param room strings, and words of records, that it is to have room for */
  static async create(
    host: GpuHost,
    spec: DictionarySpec,
    room = { strings: 0, words: 0 },
  ): Promise<GpuDictionary> {
    const { memory } = host.gpu;
    const slots = slotsFor(host, room.strings);
    const words = Math.max(FIRST_WORDS, room.words);
    const made: GpuBuffer[] = [];
    try {
      for (const bytes of [dictionaryCounters.bytes, slots * 8, words * 4]) {
        made.push(await memory.acquire("strings", { bytes }));
      }
      const [control, slotBuffer, arena] = made;
      const dictionary = new GpuDictionary(host, spec, control, slotBuffer, slots, arena, words);
      await dictionary.clear();
      return dictionary;
    } catch (error) {
      for (const buffer of made) memory.release(buffer);
      throw error;
    }
  }

  private constructor(
    private readonly host: GpuHost,
    readonly spec: DictionarySpec,
    private readonly control: GpuBuffer,
    private slots: GpuBuffer,
    private slotCount: number,
    private arena: GpuBuffer,
    private arenaWords: number,
  ) {
    this.#keying = keyingOf(spec.seed || host.engine.hashSeed);
  }

  get strings(): number {
    return this.#strings;
  }

  get usedBytes(): number {
    return this.#used * 4;
  }

  get bytes(): number {
    return this.slotCount * 8 + this.arenaWords * 4;
  }

  add(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">> {
    return this.#eachPiece(strings, call, (bound) => this.#addChunk(bound));
  }

  lookUp(strings: Utf8Column, call: DictionaryCall): Promise<DeviceArray<"u32">> {
    return this.#eachPiece(strings, call, async (bound) => {
      await this.#probe(bound, false);
    });
  }

  /** Uploads a batch piece by piece, and has `work` number each. */
  async #eachPiece(
    strings: Utf8Column,
    { where, signal }: DictionaryCall,
    work: (bound: BoundStrings) => Promise<void>,
  ): Promise<DeviceArray<"u32">> {
    const { engine, gpu } = this.host;
    const numbers = await newArray(engine, gpu, "u32", strings.length);
    try {
      for (const piece of piecesOf(strings, this.#mostBinding, gpu.traits.isEmulated)) {
        signal?.throwIfAborted();
        const scratch = new Scratch(gpu);
        try {
          const { first, count, fromByte, toByte } = piece;
          const offsets = strings.offsets.subarray(first, first + count + 1);
          const bytes = strings.bytes.subarray(fromByte, toByte);
          await work({
            count,
            offsets: await this.#uploaded(scratch, asBytes(offsets)),
            bytes: (await this.#uploaded(scratch, bytes)).range,
            base: fromByte,
            records: false,
            mask: where && (await scratch.input("u8", where, piece)),
            numbers: elementsAt(numbers, first, count),
            places: (await scratch.column("u32", count)).range,
          });
        } finally {
          scratch.release();
        }
      }
      return numbers;
    } catch (error) {
      numbers.destroy();
      throw error;
    }
  }

  async #uploaded(scratch: Scratch, data: Uint8Array): Promise<Column> {
    const buffer = await scratch.buffer(data.length + 8);
    await this.host.gpu.upload(buffer, 0, data);
    return bindAt(buffer, 0, data.length + 4);
  }

  /**
   * Gives numbers to the strings of a chunk. Those that may be new are counted first, where there is no room for all.
   */
  async #addChunk(bound: BoundStrings): Promise<void> {
    const { count, bytes } = bound;
    const most = count + (bytes.size ?? 0) / 4 + count;
    const hasRoom = slotsFor(this.host, this.#strings + count) <= this.slotCount;
    if (!hasRoom || this.#used + most > this.arenaWords) {
      const { absent, absentWords } = await this.#probe(bound, false);
      await this.#makeRoom(absent, absentWords);
    }
    await this.#probe(bound, true);
  }

  /**
   * Runs the probe kernel over a chunk until every element has its place, and writes the numbers.
   * @param claims strings that have no slot claim one
   */
  async #probe(bound: BoundStrings, claims: boolean): Promise<{ absent: number; absentWords: number }> {
    const { gpu } = this.host;
    const { count, records, mask } = bound;
    const sources = dictionaryKernels;
    const constants = { HASH: hashNames.indexOf(this.spec.hash), RECORDS: records };
    const [probe, settle, numbers] = await Promise.all([
      gpu.compile(sources.probe, { ...constants, CLAIMS: claims, MASKED: mask !== undefined }),
      claims ? gpu.compile(sources.settle, constants) : null,
      gpu.compile(sources.numbers, {}),
    ]);
    const workgroups = Math.ceil(count / WORKGROUP);
    let found = { absent: 0, absentWords: 0 };
    for (let round = 0; ; round++) {
      const bindings = { ...this.#bindings(), ...this.#columns(bound) };
      const params = { ...this.#params(bound), round };
      const counters = await this.#submit((recorder) => {
        if (round === 0) recorder.clear(bound.places.buffer, bound.places.offset ?? 0, count * 4);
        recorder.dispatch(probe, bindings, params, workgroups);
        if (settle) recorder.dispatch(settle, bindings, params, workgroups);
        recorder.dispatch(numbers, bindings, params, workgroups);
      });
      found.absent += counters.absent;
      found.absentWords += counters.absentWords;
      if (counters.unfinished === 0) return found;
      gpu.checkAlive();
      if (round < LONG_ROUNDS || this.#isReseeded) continue;
      await this.#moveSlots(this.slotCount, keyingOf(crypto.getRandomValues(new Uint32Array(1))[0]));
      this.#isReseeded = true;
      // places were those of the other table
      found = { absent: 0, absentWords: 0 };
      round = -1;
    }
  }

  /** Submits with zeroed counters, reads them back, and notes what they say. */
  async #submit(record: (recorder: Recorder) => void) {
    const { gpu } = this.host;
    const { bytes } = dictionaryCounters;
    const into = new Uint8Array(bytes);
    // all but the last, the words in use
    gpu.write(this.control, 0, new Uint8Array(bytes - 4));
    await gpu.submit("strings", record, [{ buffer: this.control, offset: 0, into }]);
    const counters = dictionaryCounters.read(into);
    this.#strings += counters.strings;
    this.#used = counters.used;
    return counters;
  }

  async read(numbers: Uint32Array): Promise<Utf8Column> {
    const { gpu } = this.host;
    const arena = new Uint32Array(numbers.length === 0 ? 0 : this.#used);
    if (arena.length > 0) {
      await readBytes(gpu, "strings", { buffer: this.arena, offset: 0, into: asBytes(arena) });
    }
    return readRecords(arena, numbers);
  }

  async compact(numbers: DeviceArray<"u32">, seed = this.spec.seed) {
    const { engine, gpu } = this.host;
    const { length } = numbers;
    const room = { strings: length, words: this.#used };
    const dictionary = await GpuDictionary.create(this.host, { ...this.spec, seed }, room);
    const scratch = new Scratch(gpu);
    let moved: DeviceArray<"u32"> | undefined;
    try {
      moved = await newArray(engine, gpu, "u32", length);
      const bytes = { buffer: this.arena, offset: 0, size: this.arenaWords * 4 };
      const most = gpu.traits.isEmulated ? 2 ** 16 : 2 ** 22;
      for (let first = 0; first < length; first += most) {
        const count = Math.min(most, length - first);
        await dictionary.#probe(
          {
            count,
            offsets: elementsAt(numbers, first, count),
            bytes,
            base: 0,
            records: true,
            mask: undefined,
            numbers: elementsAt(moved, first, count),
            places: (await scratch.column("u32", count)).range,
          },
          true,
        );
        scratch.release();
      }
      return { dictionary, numbers: moved };
    } catch (error) {
      moved?.destroy();
      dictionary.destroy();
      throw error;
    } finally {
      scratch.release();
    }
  }

  async clear(): Promise<void> {
    const { gpu } = this.host;
    const fill = await filling(gpu, EMPTY);
    gpu.write(this.control, 0, new Uint8Array(dictionaryCounters.bytes));
    await gpu.submit("clear strings", (recorder) =>
      fill(recorder, { buffer: this.slots, size: this.slotCount * 8 }),
    );
    this.#strings = this.#used = 0;
  }

  destroy(): void {
    if (this.#destroyed) return;
    this.#destroyed = true;
    for (const buffer of [this.control, this.slots, this.arena]) this.host.gpu.memory.release(buffer);
  }

  /** Makes room for so many strings, whose records have so many words. @throws LimitError, and nothing was changed */
  async #makeRoom(strings: number, words: number): Promise<void> {
    const need = this.#used + words;
    if (need > this.arenaWords) await this.#growArena(need);
    const slots = slotsFor(this.host, this.#strings + strings);
    if (slots > this.slotCount) {
      await this.#moveSlots(slots, null);
      this.#isReseeded = false;
    }
  }

  async #growArena(need: number): Promise<void> {
    const { gpu } = this.host;
    const most = Math.floor(this.#mostBinding / 4);
    checkBinding(gpu, need * 4, TOO_MANY);
    const words = Math.max(need, Math.min(2 * this.arenaWords, most));
    const arena = await gpu.memory.acquire("strings", { bytes: words * 4 });
    const old = this.arena;
    await gpu.submit("grow arena", (recorder) => recorder.copy(old, 0, arena, 0, this.#used * 4));
    this.arena = arena;
    this.arenaWords = words;
    gpu.memory.release(old);
  }

  /** Goes on with a table of so many slots. @param keying null: that of before */
  async #moveSlots(count: number, keying: Keying | null): Promise<void> {
    const { gpu } = this.host;
    const constants = { HASH: hashNames.indexOf(this.spec.hash), RECORDS: true, REHASH: keying !== null };
    const sources = dictionaryKernels;
    const [fill, move] = await Promise.all([filling(gpu, EMPTY), gpu.compile(sources.moveSlots, constants)]);
    const slots = await gpu.memory.acquire("strings", { bytes: count * 8 });
    const old = this.slots;
    const size = this.slotCount * 8;
    try {
      const { unfinished } = await this.#submit((recorder) => {
        fill(recorder, { buffer: slots, size: count * 8 });
        const bindings = {
          control: { buffer: this.control },
          table: { buffer: slots, size: count * 8 },
          slots: { buffer: old, size },
          offsets: { buffer: old, size },
          bytes: { buffer: this.arena, size: this.arenaWords * 4 },
        };
        const { hashMask = ALL_BITS } = this.spec;
        const params = { count: this.slotCount, slotMask: count - 1, hashMask, ...(keying ?? this.#keying) };
        recorder.dispatch(move, bindings, params, Math.ceil(this.slotCount / WORKGROUP));
      });
      if (unfinished > 0) throw new EngineError(`Growing a dictionary left ${unfinished} strings out.`);
    } catch (error) {
      gpu.memory.release(slots);
      throw error;
    }
    this.slots = slots;
    this.slotCount = count;
    if (keying !== null) this.#keying = keying;
    gpu.memory.release(old);
  }

  get #mostBinding(): number {
    return this.host.maxTableBinding;
  }

  #bindings() {
    return {
      control: { buffer: this.control },
      table: { buffer: this.slots, size: this.slotCount * 8 },
      slots: { buffer: this.slots, size: this.slotCount * 8 },
      arena: { buffer: this.arena, size: this.arenaWords * 4 },
    };
  }

  #columns({ offsets, bytes, mask, numbers, places }: BoundStrings) {
    return { offsets: offsets.range, bytes, mask: mask?.range, numbers: numbers.range, places };
  }

  #params({ count, base, offsets, mask, numbers }: BoundStrings) {
    return {
      count,
      slotMask: this.slotCount - 1,
      base,
      offsetShift: offsets.shift,
      maskShift: mask?.shift,
      numberShift: numbers.shift,
      ...this.#keying,
      hashMask: this.spec.hashMask ?? ALL_BITS,
    };
  }
}

const TOO_MANY = "Split the keys over several tables.";

/** Slots for so many strings: a power of two of which at most half are taken. @throws LimitError */
function slotsFor({ maxTableBinding }: GpuHost, strings: number): number {
  const slots = Math.max(FIRST_SLOTS, 2 ** Math.ceil(Math.log2(Math.max(1, 2 * strings))));
  const most = Math.min(MOST_SLOTS, Math.floor(maxTableBinding / 8));
  if (slots <= most || slots === FIRST_SLOTS) return slots;
  throw new LimitError("maxStorageBufferBindingSize", slots * 8, most * 8, TOO_MANY);
}

function elementsAt(array: DeviceArray<"u32">, first: number, count: number): Column {
  const { buffer, byteOffset } = placeOf(array);
  return bindAt(buffer, byteOffset + first * 4, count * 4);
}
