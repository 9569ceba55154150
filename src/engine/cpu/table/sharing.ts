/**
 * Which chunks of an engine's tables are shared with workers, and how long they are then. The workers, and what makes jobs of chunks,
 * are in parallel.ts: it loads with the first chunk that is shared, since pages whose batches are small do without.
 */
import { DeviceLostError } from "../../../errors.js";
import { sharingRefused } from "../../../threads/runtime.js";
import { lazily } from "../../lazily.js";
import type { Tuning } from "../tuning.js";
import type { Workspace } from "./blocks.js";
import type { Parallel } from "./parallel.js";

const loadModule = lazily(() => import("./parallel.js"));

export class Sharing {
  /** How many changes to do alone, and how many it was the last time. */
  #pause = { left: 0, length: 0 };
  #refusal: string | null;
  #parallel: Parallel | undefined;
  #destroyed = false;

  /** @param workspace the calling thread's. */
  constructor(
    private readonly wanted: number,
    readonly tuning: Tuning,
    private readonly workspace: Workspace,
  ) {
    this.#refusal = wanted > 1 ? sharingRefused() : null;
  }

  /** Why there are no workers although some were asked for; null when there are, as far as is known. */
  get refusal(): string | null {
    return this.#refusal ?? this.#parallel?.pool.refusal ?? null;
  }

  /** Threads that may work on a chunk, the caller included. */
  get threads(): number {
    return this.refusal === null && !this.#destroyed ? this.wanted : 1;
  }

  /** What shares chunks. */
  async load(): Promise<Parallel> {
    const { Parallel } = await loadModule().catch((error: Error) => {
      this.#refusal = `workers do not load: ${error.message}`;
      throw error;
    });
    if (this.#destroyed) throw new DeviceLostError("destroyed", "destroy was called while an operation ran");
    this.#parallel ??= new Parallel(this.wanted, this, this.workspace);
    return this.#parallel;
  }

  /** Starts `workers` workers, all unless told, where there are to be any; resolves when they are up. */
  async warmUp(workers?: number): Promise<void> {
    if (this.threads > 1) await (await this.load()).pool.warmUp(workers);
  }

  /** Elements of the next chunk to look up on several threads, 0 to go on alone: `left` are to do. */
  lookUpLength(left: number, forced: boolean): number {
    const length = Math.min(left, this.tuning.chunk);
    return this.threads > 1 && (forced || length >= this.tuning.lookUpFrom) ? length : 0;
  }

  /**
   * The same for a change, of which no more elements may be inserts than `room`, the free slots. Sorting pays
   * only when workers come, so after a job without any the next changes are done alone: one, then two, four
   * and so on as long as none comes. What fits a table that is nearly full would be shared a few elements at a
   * time: that is done alone, also where sharing is forced.
   */
  changeLength(left: number, room: number, forced: boolean): number {
    const { chunk, changeFrom } = this.tuning;
    const length = Math.min(left, room, chunk);
    const least = forced ? Math.min(left, chunk, changeFrom) : changeFrom;
    if (this.threads === 1 || length < least) return 0;
    if (forced || this.#pause.left === 0) return length;
    this.#pause.left--;
    return 0;
  }

  /** Says whether workers came to a change, which goes before later ones: see changeLength. */
  noteWorkers(came: boolean): void {
    const length = came ? 0 : Math.min(this.tuning.pause, this.#pause.length * 2 || 1);
    this.#pause = { left: length, length };
  }

  /** As WorkerPool. */
  noteIdle(bytes: number): void {
    this.#parallel?.pool.noteIdle(bytes);
  }

  destroy(): void {
    this.#destroyed = true;
    this.#parallel?.pool.destroy();
  }
}
