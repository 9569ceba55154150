/**
 * A table's memory on the GPU and its numbers on the host. Every kernel that may change the table goes through
 * `change`, which keeps the numbers exact: entries, tombstones, longest probe.
 */
import {
  type Bindings,
  checkSlots,
  EMPTY,
  filling,
  type GpuBuffer,
  type GpuHost,
  getOrMake,
  type Kernel,
  type Params,
  type Range,
  type Readback,
  type Recording,
  Submissions,
  type TableSpec,
} from "warpmap/engine";
import type { CudaRuntime } from "../runtime/cuda-runtime.js";
import { type CudaFormat, formatOf, slotsBytes } from "./formats.js";
import { type BindingOf, constantsOf, type Operation, type ParamOf, tableKernel } from "./kernels.js";

/** What kernels count, in the order of the words of `control`. */
const COUNTERS = [
  "inserted",
  "existing",
  "rejected",
  "reused",
  "erased",
  "sideInserted",
  "sideErased",
  "listed",
  "tickets",
  "maxProbe",
] as const;
/** What users' kernels count behind these, since the table was cleared: UserCounters of kernels/warpmap/control.cuh. */
const USER_COUNTERS = ["inserted", "reused", "sideInserted", "erased", "sideErased"] as const;
export type Counters = { readonly [N in (typeof COUNTERS)[number]]: number };
/** Bytes of `control`. */
const CONTROL_BYTES = 64;
/** Where `control` counts the elements of a list. */
export const LISTED = { offset: 4 * COUNTERS.indexOf("listed"), bytes: 4 };
/** Words that are of one call: all before the longest probe, which is a fact of the table. */
const CALL_WORDS = COUNTERS.indexOf("maxProbe");
const NO_COUNTS = new Uint8Array(4 * CALL_WORDS);

/** Blocks that keep the largest GPUs busy: eight for each of 132 multiprocessors. */
export const BUSY_BLOCKS = 8 * 132;

/** Blocks for so many elements, of 256 threads: one element a thread at least, and 2,048 a block where there are many. */
export function blocksFor(elements: number): number {
  return Math.max(Math.ceil(elements / 2048), Math.min(Math.ceil(elements / 256), BUSY_BLOCKS));
}

export interface CudaHost extends GpuHost {
  readonly gpu: CudaRuntime;
}

export class TableState {
  readonly format: CudaFormat;
  readonly slotsRange: Range;
  readonly slotsBytes: number;
  readonly submissions: Submissions;
  /** What kernels are told of it. */
  readonly constants: ReturnType<typeof constantsOf>;
  /** The counters of calls are 0. */
  #isZeroed = false;
  #mainLive = 0;
  #sideLive = 0;
  #tombstones = 0;
  #freed = false;
  /** Keys that take a slot's place at most: those of the slots, or fewer. */
  #most: number;
  /** What users' kernels had counted when the host last looked. */
  #seen = USER_COUNTERS.map(() => 0);
  readonly #kernels = new Map<Operation, Kernel>();

  private constructor(
    readonly host: CudaHost,
    readonly spec: TableSpec,
    readonly slots: GpuBuffer,
    readonly control: GpuBuffer,
  ) {
    this.format = formatOf(spec);
    this.constants = constantsOf(spec);
    this.slotsBytes = slotsBytes(spec);
    this.slotsRange = { buffer: slots, size: this.slotsBytes };
    this.submissions = new Submissions(host.gpu);
    this.#most = spec.slots;
  }

  /** An empty table. @throws LimitError when the GPU has too little memory */
  static async create(host: CudaHost, spec: TableSpec): Promise<TableState> {
    const { memory } = host.gpu;
    checkSlots(spec.slots);
    const made: GpuBuffer[] = [];
    try {
      for (const bytes of [slotsBytes(spec), CONTROL_BYTES])
        made.push(await memory.acquire("table", { bytes }));
      const state = new TableState(host, spec, made[0], made[1]);
      await state.clear();
      return state;
    } catch (error) {
      for (const buffer of made) memory.release(buffer);
      throw error;
    }
  }

  /** Entries, side slots included. */
  get live(): number {
    return this.#mainLive + this.#sideLive;
  }

  /**
   * Keys that take a slot's place. Keys of one word that equal a sentinel have places besides the slots, as on every
   * engine.
   */
  get occupied(): number {
    return this.format.keyWords === 1 ? this.#mainLive : this.live;
  }

  /** New keys that the table takes. */
  get free(): number {
    return this.#most - this.occupied;
  }

  /** Has the table take no more new keys than so many, and than it has slots for. */
  takeAtMost(keys: number): void {
    this.#most = Math.min(this.occupied + keys, this.spec.slots);
  }

  get tombstones(): number {
    return this.#tombstones;
  }

  /** What runs an operation's kernel. @param how the launch, the same for all of an operation */
  runs<O extends Operation>(
    operation: O,
    bindings: Bindings<BindingOf<O>>,
    params: Params<ParamOf<O>>,
    blocks: number,
    how: { readonly WORKGROUP?: number; readonly SHARED_BYTES?: number } = {},
  ): Recording {
    const kernel = this.#kernel(operation, how) as Kernel<ParamOf<O>, string>;
    const all = { ...bindings, slots: this.slotsRange, control: { buffer: this.control } };
    return (recorder) => recorder.dispatch(kernel, all, params, blocks);
  }

  #kernel(operation: Operation, how: object): Kernel {
    return getOrMake(this.#kernels, operation, () =>
      this.host.gpu.kernel(tableKernel(operation, this.format.kind), { ...this.constants, ...how }),
    );
  }

  /** Blocks for a scan of all slots. */
  get scanBlocks(): number {
    return Math.ceil((this.spec.slots + this.format.sideSlots) / 4096);
  }

  /** Submits a kernel that changes nothing, and waits for it. */
  async look(label: string, run: Recording, reads: readonly Readback[]): Promise<void> {
    await this.submissions.submit(label, run, reads);
    if (reads.length === 0) await this.host.gpu.context.arrived(label);
  }

  /**
   * Submits a kernel with zeroed counters, and notes what it counted.
   * @param tickets for new keys, where it takes them
   */
  async change(operation: Operation, run: Recording, tickets = 0): Promise<Counters> {
    const { control, submissions } = this;
    const { gpu } = this.host;
    const into = new Uint8Array(CONTROL_BYTES);
    const isZeroed = this.#isZeroed && tickets === 0;
    this.#isZeroed = false;
    await submissions.accepted();
    if (!isZeroed) {
      const words = new Uint32Array(CALL_WORDS);
      words[COUNTERS.indexOf("tickets")] = tickets;
      gpu.write(control, 0, new Uint8Array(words.buffer));
    }
    await submissions.ahead(operation, run, [{ buffer: control, offset: 0, into }]);
    // for the next call, while the GPU works on this one
    gpu.write(control, 0, NO_COUNTS);
    await submissions.accepted();
    this.#isZeroed = true;
    return this.#note(new Uint32Array(into.buffer));
  }

  #note(words: Uint32Array): Counters {
    const counters = Object.fromEntries(COUNTERS.map((name, i) => [name, words[i]])) as Counters;
    const { inserted, sideInserted, erased, sideErased, reused } = counters;
    const mainErased = erased - sideErased;
    this.#mainLive += inserted - sideInserted - mainErased;
    this.#sideLive += sideInserted - sideErased;
    this.#tombstones += mainErased - reused;
    return counters;
  }

  /** Notes what users' kernels did that were submitted to the stream, or ended, before. */
  async takeKernelChanges(): Promise<void> {
    const into = new Uint8Array(CONTROL_BYTES);
    await this.look("take in", () => {}, [{ buffer: this.control, offset: 0, into }]);
    const seen = Array.from(new Uint32Array(into.buffer).subarray(COUNTERS.length)).slice(
      0,
      USER_COUNTERS.length,
    );
    const changes = new Uint32Array(COUNTERS.length);
    for (const [i, name] of USER_COUNTERS.entries())
      changes[COUNTERS.indexOf(name)] = seen[i] - this.#seen[i];
    this.#seen = seen;
    this.#note(changes);
  }

  async clear(): Promise<void> {
    const { gpu } = this.host;
    const fill = await filling(gpu, EMPTY);
    await gpu.submit("clear", (recorder) => {
      fill(recorder, this.slotsRange);
      recorder.clear(this.control);
    });
    this.#mainLive = this.#sideLive = this.#tombstones = 0;
    this.#isZeroed = true;
    this.#seen.fill(0);
  }

  destroy(): void {
    if (this.#freed) return;
    this.#freed = true;
    for (const buffer of [this.slots, this.control]) this.host.gpu.memory.release(buffer);
  }
}
