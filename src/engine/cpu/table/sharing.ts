/**
 * Which chunks of an engine's tables are shared with workers, and how long they are then. The workers, and what makes jobs of chunks,
 * are in parallel.ts: it loads with the first chunk that is shared, since pages whose batches are small do without.
 */
import type { HostPool } from "../../../host/pool.js";
import { lazily } from "../../lazily.js";
import type { Tuning } from "../tuning.js";
import type { Workspace } from "./blocks.js";
import type { Parallel } from "./parallel.js";

const loadModule = lazily(() => import("./parallel.js"));

export class Sharing {
  /** How many changes to do alone, and how many it was the last time. */
  #pause = { left: 0, length: 0 };
  #parallel: Parallel | undefined;

  /** @param workspace the calling thread's. */
  constructor(
    private readonly host: HostPool,
    readonly tuning: Tuning,
    private readonly workspace: Workspace,
  ) {}

  /** What shares chunks. */
  async load(): Promise<Parallel> {
    const { Parallel } = await loadModule().catch((error: Error) => {
      this.host.refuse(`workers do not load: ${error.message}`);
      throw error;
    });
    this.host.guard();
    this.#parallel ??= new Parallel(this.host, this, this.workspace);
    return this.#parallel;
  }

  /** Starts `workers` workers, all unless told, where there are to be any; resolves when they are up. */
  async warmUp(workers?: number): Promise<void> {
    if (this.host.threads > 1) await (await this.load()).warmUp(workers);
  }

  /** Elements of the next chunk to look up on several threads, 0 to go on alone: `left` are to do. */
  lookUpLength(left: number, forced: boolean): number {
    const length = Math.min(left, this.tuning.chunk);
    return this.host.threads > 1 && (forced || length >= this.tuning.lookUpFrom) ? length : 0;
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
    if (this.host.threads === 1 || length < least) return 0;
    if (forced || this.#pause.left === 0) return length;
    this.#pause.left--;
    return 0;
  }

  /** Says whether workers came to a change, which goes before later ones: see changeLength. */
  noteWorkers(came: boolean): void {
    const length = came ? 0 : Math.min(this.tuning.pause, this.#pause.length * 2 || 1);
    this.#pause = { left: length, length };
  }
}
