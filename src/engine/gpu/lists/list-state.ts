/**
 * The memory of lists on the GPU. The operations are in the files beside it.
 *
 * Memory: the heads; where there are values also room for them, the records of lists in several pieces (which grow when
 * they are used up), and a word for each number that is 0 between calls.
 */
import { ListCounts } from "../../list-counts.js";
import { type ListSpec, RECORD_WORDS, recordsFor } from "../../value-lists.js";
import type { GpuHost } from "../host.js";
import { bufferSize } from "../memory/buffer-pool.js";
import type { GpuBuffer } from "../runtime.js";
import { checkBinding } from "./list-run.js";

type Part = "heads" | "added" | "room" | "records";

export class ListState extends ListCounts {
  readonly #buffers = new Map<Part, GpuBuffer>();

  private constructor(
    readonly host: GpuHost,
    spec: ListSpec,
  ) {
    super(spec);
  }

  /** Empty lists. @throws LimitError when they are larger than a binding, or there is no memory for them */
  static async create(host: GpuHost, spec: ListSpec): Promise<ListState> {
    const state = new ListState(host, spec);
    const { numbers, room, head, valueWords } = state;
    try {
      await state.#add("heads", numbers * head);
      if (valueWords > 0) {
        await state.#add("added", numbers);
        await state.#add("room", room * valueWords);
        await state.#add("records", recordsFor(spec.capacity) * RECORD_WORDS);
      }
      await host.gpu.submit("empty lists", (recorder) => {
        for (const part of ["heads", "added"] as const) {
          const buffer = state.#buffers.get(part);
          if (buffer) recorder.clear(buffer);
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
    this.#buffers.set(part, await gpu.memory.acquire("lists", { bytes }));
  }

  /** What kernels bind of a part; nothing where lists have no values. */
  bind(part: Part): { buffer: GpuBuffer; size: number } | undefined {
    const buffer = this.#buffers.get(part);
    const most = this.host.gpu.traits.maxBinding;
    return buffer && { buffer, size: Math.min(buffer.size, Math.floor(most / 16) * 16) };
  }

  /** What users' own kernels bind. The buffers are freed in the end, not kept: see GpuMemory.share. */
  share(): { buffer: GpuBuffer; size: number }[] {
    const parts = (["heads", "room", "records"] as const).flatMap((part) => this.bind(part) ?? []);
    for (const { buffer } of parts) this.host.gpu.memory.share(buffer);
    return parts;
  }

  get recordRoom(): number {
    return Math.floor((this.bind("records")?.size ?? 0) / (RECORD_WORDS * 4));
  }

  async reserveRecords(records: number): Promise<void> {
    if (records <= this.recordRoom) return;
    const { gpu } = this.host;
    const old = this.#buffers.get("records") as GpuBuffer;
    const wanted = Math.max(records, 2 * this.recordRoom) * RECORD_WORDS * 4;
    checkBinding(gpu, records * RECORD_WORDS * 4);
    const bytes = Math.min(wanted, Math.floor(gpu.traits.maxBinding / 16) * 16);
    const fresh = await gpu.memory.acquire("lists", { bytes });
    await gpu.submit("move records", (recorder) =>
      recorder.copy(old, 0, fresh, 0, this.recordsUsed * RECORD_WORDS * 4),
    );
    this.#buffers.set("records", fresh);
    gpu.memory.release(old);
  }

  async clear(): Promise<void> {
    await this.host.gpu.submit("empty lists", (recorder) =>
      recorder.clear(this.#buffers.get("heads") as GpuBuffer),
    );
    this.reset();
  }

  get bytes(): number {
    return [...this.#buffers.values()].reduce((sum, { size }) => sum + size, 0);
  }

  protected free(): void {
    for (const buffer of this.#buffers.values()) this.host.gpu.memory.release(buffer);
    this.#buffers.clear();
  }
}
