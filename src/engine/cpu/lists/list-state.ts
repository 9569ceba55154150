/**
 * The memory of lists on the cpu engine: the heads; where there are values also room for them, the records of lists in
 * several pieces (which grow when they are used up), and a word for each number that is 0 between calls.
 */
import type { DeviceArray } from "../../device-array.js";
import { ListCounts } from "../../list-counts.js";
import { type ListSpec, RECORD_WORDS, recordsFor } from "../../value-lists.js";
import type { CpuEngine } from "../cpu-engine.js";
import type { ListArrays } from "./list-loops.js";
import { hostOf, inPieces } from "./list-run.js";

type Words = DeviceArray<"u32">;

const NO_WORDS = new Uint32Array(0);

export class ListState extends ListCounts {
  readonly #heads: Words;
  readonly #added: Words | null = null;
  readonly #room: Words | null = null;
  #records: Words | null = null;

  /** Empty lists. @throws LimitError when there is no memory for them */
  constructor(
    readonly engine: CpuEngine,
    spec: ListSpec,
  ) {
    super(spec);
    this.#heads = engine.newArray("u32", this.numbers * this.head, true);
    if (spec.value === null) return;
    try {
      this.#added = engine.newArray("u32", this.numbers, true);
      this.#room = engine.newArray("u32", this.room * this.valueWords, false);
      this.#records = engine.newArray("u32", recordsFor(spec.capacity) * RECORD_WORDS, false);
    } catch (error) {
      this.release();
      throw error;
    }
  }

  get bytes(): number {
    return this.#parts.reduce((sum, { length }) => sum + 4 * length, 0);
  }

  /** The arrays as loops take them, until records get more memory. */
  arrays(): ListArrays {
    const words = (part: Words | null) => (part === null ? NO_WORDS : hostOf(part));
    return {
      heads: hostOf(this.#heads),
      head: this.head,
      added: words(this.#added),
      room: words(this.#room),
      words: this.valueWords,
      records: words(this.#records),
    };
  }

  get recordRoom(): number {
    return (this.#records?.length ?? 0) / RECORD_WORDS;
  }

  async reserveRecords(records: number): Promise<void> {
    if (records <= this.recordRoom) return;
    const old = this.#records as Words;
    this.#records = this.engine.newArray("u32", Math.max(records, 2 * this.recordRoom) * RECORD_WORDS, false);
    hostOf(this.#records).set(hostOf(old));
    old.destroy();
  }

  async clear(): Promise<void> {
    const heads = hostOf(this.#heads);
    await inPieces(this.engine, heads.length, {}, ({ from, to }) => heads.fill(0, from, to));
    this.reset();
  }

  protected free(): void {
    for (const part of this.#parts) part.destroy();
  }

  get #parts(): Words[] {
    return [this.#heads, this.#added, this.#room, this.#records].filter((part) => part !== null);
  }
}
