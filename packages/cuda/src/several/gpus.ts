/** The GPUs of one device, and the ways between them. */
import {
  type DeviceArray,
  type GpuBuffer,
  gpuArray,
  type Range,
  type ScalarType,
  type Scratch,
  settled,
} from "warpmap/engine";
import type { CudaContext, Loss } from "../driver/context.js";
import { addressOf } from "../runtime/memory.js";
import type { CudaHost } from "../table/table-state.js";

export { settled };

interface Place {
  readonly gpu: number;
  readonly buffer: GpuBuffer;
  /** Bytes. */
  readonly offset: number;
}

/** Where elements go: from the host to a GPU, to those who own them, or results to where the elements came from. */
type Way = "up" | "there" | "back";

export class Gpus {
  /** Whether a GPU (the first index) reads and writes the memory of another by itself. */
  readonly #reach: readonly (readonly boolean[])[];

  readonly #lanes = new Map<Way, Gpus>();
  /** `#submitted` as it was after the last fence. */
  #fenced = -1;
  /** Those that these are lanes of, or these. */
  readonly #main: Gpus;

  /** @param peers whether memory of others may be read and written directly, which tests do without; or as of which GPUs */
  constructor(
    readonly hosts: readonly CudaHost[],
    peers: boolean | Gpus = true,
  ) {
    this.#main = peers instanceof Gpus ? peers : this;
    this.#reach =
      peers instanceof Gpus
        ? peers.#reach
        : hosts.map((from) =>
            hosts.map((to) => from === to || (peers && from.gpu.context.reach(to.gpu.context))),
          );
  }

  /** The same GPUs by other streams, for exchanges beside the work of these. */
  lane(way: Way): Gpus {
    const known = this.#lanes.get(way);
    if (known) return known;
    const made: CudaHost[] = [];
    try {
      for (const host of this.hosts) made.push({ ...host, gpu: host.gpu.lane() });
    } catch (error) {
      for (const { gpu } of made) gpu.destroy();
      throw error;
    }
    const lane = new Gpus(made, this);
    this.#lanes.set(way, lane);
    return lane;
  }

  /** Other streams of these GPUs work beside these. */
  get isLane(): boolean {
    return this.#main !== this;
  }

  get count(): number {
    return this.hosts.length;
  }

  context(gpu: number): CudaContext {
    return this.hosts[gpu].gpu.context;
  }

  reaches(from: number, to: number): boolean {
    return this.#reach[from][to];
  }

  /** Whether each reads and writes the memory of all. */
  get reachAll(): boolean {
    return this.#reach.every((row) => row.every((reaches) => reaches));
  }

  /** Memory of a GPU as an array, which stays its owner's. */
  view<T extends ScalarType>(
    gpu: number,
    type: T,
    length: number,
    { buffer, offset = 0 }: Range,
  ): DeviceArray<T> {
    const { engine, gpu: runtime } = this.hosts[gpu];
    return gpuArray(engine, runtime, type, length, { buffer, byteOffset: offset, owned: false });
  }

  /** Puts a copy between memory of two GPUs on the stream of the GPU `on`, which begins as a submission of its. */
  copy(on: number, from: Place, to: Place, bytes: number): void {
    const [source, target] = [from, to].map(({ buffer, offset }) => addressOf({ buffer, offset }));
    this.context(on).copyBetween(this.context(from.gpu), source, this.context(to.gpu), target, bytes);
  }

  get #own(): CudaContext[] {
    return this.hosts.map(({ gpu }) => gpu.context);
  }

  get #contexts(): CudaContext[] {
    return [...this.#own, ...[...this.#lanes.values()].flatMap((lane) => lane.#own)];
  }

  /** What is submitted to any of the GPUs, or their lanes, later runs after all that was submitted to any by now. */
  fence(): void {
    if (!this.areAlive) return;
    joinStreams(this.#contexts);
    this.#fenced = this.#submitted;
  }

  /** All that was submitted by this library; users' kernels may be on the same streams. */
  get #submitted(): number {
    return this.#contexts.reduce((sum, context) => sum + context.submitted, 0);
  }

  /** The same of these streams alone. */
  meet(): void {
    joinStreams(this.#own);
  }

  /** What is submitted here later runs after all that was submitted to the same GPUs of `others` by now. */
  after(others: Gpus): void {
    for (const gpu of this.hosts.keys()) this.context(gpu).after(others.context(gpu));
  }

  /** Waits until all that was submitted is done. */
  async arrived(): Promise<void> {
    await settled(this.hosts.map(({ gpu }) => gpu.context.arrived("An exchange")));
  }

  get areAlive(): boolean {
    return this.#contexts.every(({ isLost }) => !isLost);
  }

  /** Gives scratch memory back. @param isDone no stream works on it any more */
  release(scratch: readonly Scratch[], isDone = false): void {
    if (!isDone && this.#main.#submitted !== this.#main.#fenced) this.#main.fence();
    for (const each of scratch) each.release();
  }

  /** Ends the lanes. @param loss what calls that are under way are told */
  destroy(loss?: Loss): void {
    for (const { hosts } of this.#lanes.values()) for (const { gpu } of hosts) gpu.destroy(loss);
  }
}

/** What is submitted to any of the streams later runs after all that was submitted to any by now. */
function joinStreams(all: readonly CudaContext[]): void {
  for (const context of all) all[0].after(context);
  for (const context of all) context.after(all[0]);
}
