/**
 * A table's memory on the GPU and its numbers on the host. Every submission that may change the table goes through
 * `submit`, which keeps the numbers exact: entries, tombstones, longest probe. What users' kernels change is taken in
 * by kernel-changes.ts.
 */
import { Submissions } from "../../gpu/call.js";
import { filling } from "../../gpu/fill.js";
import type { GpuHost } from "../../gpu/host.js";
import type { GpuBuffer, Range, Readback, Recorder } from "../../gpu/runtime.js";
import { checkSlots, EMPTY, type TableSpec } from "../../layout.js";
import { lazily } from "../../lazily.js";
import { slotFormat, tableBytes } from "../../slot-format.js";
import { TableKernels } from "../direct/direct-kernels.js";
import { CALL_COUNTER_BYTES, type Counters, SEED_WORD, tableCounters } from "./control.js";
import type { TableWindow } from "./windows.js";

const loadHashCheck = lazily(() => import("./check-hash.js"));

/** What a table needs of its engine. */
export interface TableHost extends GpuHost {
  /** Elements that a list of unfinished elements has room for. */
  readonly worklistRoom: number;
}

/**
 * Makes an empty table.
 * @throws LimitError when it has too many slots, or does not fit one buffer, or the GPU's memory; ValidationError when
 * a user's own hash function is another on the GPU
 */
export async function newState(host: TableHost, spec: TableSpec): Promise<TableState> {
  const { gpu } = host;
  if (typeof spec.hash !== "string") await (await loadHashCheck()).checkOwnWgsl(host, spec);
  checkSlots(spec.slots);
  const bytes = slotBytes(spec);
  const made: GpuBuffer[] = [];
  try {
    for (const size of [bytes, tableCounters.bytes])
      made.push(await gpu.memory.acquire("table", { bytes: size }));
    const [slots, control] = made;
    const sources = await TableKernels.of(spec);
    const windows = await windowsOf(spec, slots, host.maxTableBinding);
    const state = new TableState(host, spec, sources, { slots, control }, windows);
    await state.beginClear();
    return state;
  } catch (error) {
    for (const buffer of made) gpu.memory.release(buffer);
    throw error;
  }
}

/** The ranges of slots that are bound one at a time: all of them, unless the table is larger than a binding. */
async function windowsOf(spec: TableSpec, buffer: GpuBuffer, most: number): Promise<readonly TableWindow[]> {
  const size = tableBytes(spec);
  if (size > most) return (await loadWindows()).cutWindows(spec, buffer, most);
  return [{ first: 0, slots: spec.slots + slotFormat(spec).sideSlots, range: { buffer, offset: 0, size } }];
}

const loadWindows = lazily(() => import("./windows.js"));

const zeroCounters = new Uint8Array(CALL_COUNTER_BYTES);

/** Bytes of a table's slots, as the fill kernel writes them: 16 at a time. */
const slotBytes = (spec: TableSpec) => Math.ceil(tableBytes(spec) / 16) * 16;

export class TableState {
  #mainLive = 0;
  #sideLive = 0;
  #tombstones = 0;
  #maxProbe = 0;
  #freed = false;
  /** False once keys were put where there was room: see advance.wgsl, HOME_SORTED. */
  homeSorted = true;
  /** Look-ups are not tried by page again until the table is cleared: see page-lookups.ts. */
  avoidsPages = false;
  readonly submissions: Submissions;
  /** The clear of the new table's memory: where it was refused the table is of no use. */
  #cleared: Promise<void> = Promise.resolve();

  constructor(
    readonly host: TableHost,
    readonly spec: TableSpec,
    readonly sources: TableKernels,
    readonly buffers: { readonly slots: GpuBuffer; readonly control: GpuBuffer },
    /** The ranges of slots that are bound one at a time: one, unless the table is larger than a binding. */
    readonly windows: readonly TableWindow[],
    entries = 0,
  ) {
    this.submissions = new Submissions(host.gpu);
    this.#mainLive = entries;
  }

  /** Entries, side slots included. */
  get live(): number {
    return this.#mainLive + this.#sideLive;
  }

  /** True when no slot of the probing table is free; an erased slot is. */
  get full(): boolean {
    return this.#mainLive === this.spec.slots;
  }

  /** True when so many new keys could take the last free slot. */
  mayFill(keys: number): boolean {
    return this.#mainLive + keys >= this.spec.slots;
  }

  get tombstones(): number {
    return this.#tombstones;
  }

  /** To be called when every tombstone was overwritten. */
  noTombstones(): void {
    this.#tombstones = 0;
  }

  /** No key is this many slots or more after its home. */
  get maxProbe(): number {
    return this.#maxProbe;
  }

  /** The bindings that every table kernel has: one window, and the counters. */
  bind({ range }: TableWindow): { readonly control: Range; readonly table: Range } {
    return { control: { buffer: this.buffers.control }, table: range };
  }

  /** Submits with zeroed counters; reads them back, and notes what they say about the table. */
  async submit(
    label: string,
    reads: readonly Readback[],
    record: (recorder: Recorder) => void,
  ): Promise<Counters> {
    await this.#cleared;
    await this.submissions.accepted();
    const { control } = this.buffers;
    const into = new Uint8Array(tableCounters.bytes);
    this.host.gpu.write(control, 0, zeroCounters);
    await this.submissions.submit(label, record, [{ buffer: control, offset: 0, into }, ...reads]);
    return this.note(tableCounters.read(into));
  }

  note(counters: Counters): Counters {
    this.#mainLive += counters.inserted - counters.erased;
    this.#sideLive += counters.sideInserted - counters.sideErased;
    this.#tombstones += counters.erased - counters.reused;
    this.#maxProbe = counters.maxProbe;
    return counters;
  }

  /**
   * Clears a new table's memory, in a submission that nobody waits for: what is submitted later sees empty slots, or
   * fails.
   */
  async beginClear(): Promise<void> {
    this.#cleared = (await this.#fill()).arrived;
    this.#cleared.catch(() => {});
  }

  async clear(): Promise<void> {
    await (await this.#fill()).arrived;
    this.#mainLive = this.#sideLive = this.#tombstones = this.#maxProbe = 0;
    this.homeSorted = true;
    this.avoidsPages = false;
  }

  /** Submits the writing of all slots and counters. */
  async #fill(): Promise<{ arrived: Promise<void> }> {
    const { gpu } = this.host;
    const { slots, control } = this.buffers;
    const fill = await filling(gpu, EMPTY);
    const counters = new Uint32Array(tableCounters.bytes / 4);
    counters[SEED_WORD] = this.spec.seed ?? 0;
    gpu.write(control, 0, new Uint8Array(counters.buffer));
    return gpu.begin("fill", (recorder) => fill(recorder, { buffer: slots, size: slotBytes(this.spec) }), []);
  }

  destroy(): void {
    if (this.#freed) return;
    this.#freed = true;
    for (const buffer of Object.values(this.buffers)) this.host.gpu.memory.release(buffer);
  }
}
