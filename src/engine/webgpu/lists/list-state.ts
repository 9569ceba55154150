/**
 * The memory of lists on the GPU, and its numbers on the host. The operations are in the files beside it.
 *
 * Memory: the heads; where there are values also room for them, the records of lists in several pieces (which grow when they are used up),
 * and a word for each number that is 0 between calls.
 */
import { LimitError } from "../../../errors.js";
import { scalarWords } from "../../scalars.js";
import { type ListSpec, numbersFor, RECORD_WORDS, roomFor } from "../../value-lists.js";
import { STORAGE_USAGE } from "../device/gpu-flags.js";
import { bufferSize } from "../memory/buffer-pool.js";
import { checkBinding, type ListHost } from "./list-run.js";

/** Records that there is memory for at first, by the entries there can be: one for so many. */
const ENTRIES_PER_RECORD = 16;

type Part = "heads" | "added" | "room" | "records";

export class ListState {
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
  readonly #buffers = new Map<Part, GPUBuffer>();
  #users = 1;

  private constructor(
    readonly host: ListHost,
    readonly spec: ListSpec,
  ) {
    this.numbers = numbersFor(spec.capacity);
    this.room = roomFor(spec.capacity);
    this.valueWords = spec.value === null ? 0 : scalarWords[spec.value];
    this.head = spec.value === null ? 1 : 2;
  }

  /** Empty lists. @throws LimitError when they are larger than a binding, or there is no memory for them */
  static async create(host: ListHost, spec: ListSpec): Promise<ListState> {
    const state = new ListState(host, spec);
    const { numbers, room, head, valueWords } = state;
    try {
      await state.#add("heads", numbers * head);
      if (valueWords > 0) {
        await state.#add("added", numbers);
        await state.#add("room", room * valueWords);
        await state.#add("records", (64 + Math.ceil(spec.capacity / ENTRIES_PER_RECORD)) * RECORD_WORDS);
      }
      await host.gpu.submit("empty lists", (encoder) => {
        for (const part of ["heads", "added"] as const) {
          const buffer = state.#buffers.get(part);
          if (buffer) encoder.clearBuffer(buffer);
        }
      });
      return state;
    } catch (error) {
      state.release();
      throw error;
    }
  }

  async #add(part: Part, words: number): Promise<void> {
    const bytes = bufferSize(words * 4);
    const { gpu } = this.host;
    checkBinding(gpu, bytes);
    this.#buffers.set(part, await gpu.memory.acquire("lists", { bytes, usage: STORAGE_USAGE }));
  }

  /** What kernels bind of a part; nothing where lists have no values. */
  bind(part: Part): { buffer: GPUBuffer; size: number } | undefined {
    const buffer = this.#buffers.get(part);
    const most = this.host.gpu.device.limits.maxStorageBufferBindingSize;
    return buffer && { buffer, size: Math.min(buffer.size, Math.floor(most / 16) * 16) };
  }

  /** Records that there is memory for. */
  get recordRoom(): number {
    return Math.floor((this.bind("records")?.size ?? 0) / (RECORD_WORDS * 4));
  }

  /** Makes memory for so many records. @throws LimitError, and nothing was changed */
  async reserveRecords(records: number): Promise<void> {
    if (records <= this.recordRoom) return;
    const { gpu } = this.host;
    const old = this.#buffers.get("records") as GPUBuffer;
    const wanted = Math.max(records, 2 * this.recordRoom) * RECORD_WORDS * 4;
    checkBinding(gpu, records * RECORD_WORDS * 4);
    const bytes = Math.min(wanted, Math.floor(gpu.device.limits.maxStorageBufferBindingSize / 16) * 16);
    const fresh = await gpu.memory.acquire("lists", { bytes, usage: STORAGE_USAGE });
    await gpu.submit("move records", (encoder) =>
      encoder.copyBufferToBuffer(old, 0, fresh, 0, this.recordsUsed * RECORD_WORDS * 4),
    );
    this.#buffers.set("records", fresh);
    gpu.memory.release(old);
  }

  /** Empties all lists. */
  async clear(): Promise<void> {
    await this.host.gpu.submit("empty lists", (encoder) =>
      encoder.clearBuffer(this.#buffers.get("heads") as GPUBuffer),
    );
    Object.assign(this, { entries: 0, filled: 0, taken: 0, used: 0, recordsUsed: 0 });
  }

  get bytes(): number {
    return [...this.#buffers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  get held(): boolean {
    return this.#users > 1;
  }

  retain(): void {
    this.#users++;
  }

  /** Frees the memory when nobody else has it. */
  release(): void {
    if (--this.#users > 0) return;
    for (const buffer of this.#buffers.values()) this.host.gpu.memory.release(buffer);
    this.#buffers.clear();
  }
}

/** @throws LimitError when a result of so many entries cannot be. */
export function checkTotal(total: number, most: number): void {
  if (total <= most) return;
  throw new LimitError(
    "rows",
    total,
    most,
    "Retrieve fewer keys at a time, or in pieces with retrieveChunks.",
  );
}
