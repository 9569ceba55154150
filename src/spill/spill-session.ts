/**
 * One call's share of memory and disk: how its limit is divided, the folder of its temporary files, and what it wrote
 * there.
 */

import type { BatchShape } from "../arrow/row-batch.js";
import { defaultDevice, sharedDevice } from "../default-device.js";
import { type Device, openDevice } from "../device.js";
import { GarbageBound } from "../host/garbage.js";
import { fileModule } from "../io/builtin.js";
import { fileErrorFrom } from "../io/errors.js";
import { makeTemporaryFolder, type TemporaryFolder, temporaryPlace } from "../io/temporary-folder.js";
import type { MemoryOptions } from "./memory-options.js";
import { SpillFile } from "./spill-file.js";

/** Times that a part is cut again, at most: beyond any disk. */
export const MOST_DEPTH = 4;

/**
 * Partitions of one cut. Each has a file open while it is written; of little memory each gets so little that blocks are
 * all overhead.
 */
const LEAST_PARTITIONS = 32;
const MOST_PARTITIONS = 128;
/** Of tables that have more columns than there is memory for. */
const LEAST_WIDE = 4;
/** Bytes of a part at most. Offsets of 32 bits number the bytes of a part and a piece together. */
const MOST_BYTES = 2 ** 30;
/** Bytes of garbage, also where nothing limits memory: it is not worth more than what it holds back. */
const MOST_GARBAGE = 2 ** 26;
/** Of the limit: a side that is held. While its columns are put together, the largest of them is there twice. */
const HELD = 1.6;
/** Bytes of a block that is worth a partition more. */
const BLOCK = 2 ** 14;

/** One for all calls: it has no threads to end. */
const loneDevice = sharedDevice(() => openDevice({ backend: "cpu", threads: 1 }));

export class SpillSession {
  /**
   * Bytes of a part that is worked on in memory. Beside it are, at times: its like of the other side, the keys of both
   * in the engine's form, the result's batch, and garbage of as much.
   */
  partBytes: number;
  /** Bytes of a side of a join that is held while the other one comes by: beside it are the index of its keys and one
   * batch of the other side at a time. */
  readonly heldBytes: number;
  /** Bytes of rows that wait to be written. */
  readonly writeBytes: number;
  /** Bytes that are read at a time. */
  pieceBytes: number;
  /** Partitions of one cut. */
  mostPartitions = MOST_PARTITIONS;
  #folder: Promise<TemporaryFolder> | undefined;
  readonly #files = new Set<SpillFile>();
  readonly #garbage: GarbageBound;
  #names = 0;
  #bytes = 0;
  #partitions = 0;
  #depth = 0;

  constructor(
    readonly memory: MemoryOptions,
    readonly signal: AbortSignal | undefined,
  ) {
    const { limit } = memory;
    const share = (of: number, most: number) => (Number.isFinite(limit) ? Math.min(limit / of, most) : limit);
    this.partBytes = share(16, MOST_BYTES);
    this.heldBytes = share(HELD, MOST_BYTES);
    this.writeBytes = share(8, MOST_BYTES);
    this.pieceBytes = share(64, MOST_BYTES / 4);
    this.#garbage = new GarbageBound(Math.min(limit / 8, MOST_GARBAGE));
  }

  /**
   * Makes room for batches of tables of so many columns that batches without rows take much: pieces are to be rows for
   * the most part, and partitions, each of which has a batch, as few as a quarter of the limit holds.
   */
  fit(fixedBytes: number): void {
    this.pieceBytes = Math.max(this.pieceBytes, 2 * fixedBytes);
    this.partBytes = Math.max(this.partBytes, 4 * fixedBytes);
    this.mostPartitions = Math.max(
      LEAST_WIDE,
      Math.min(MOST_PARTITIONS, Math.floor(this.memory.limit / 4 / fixedBytes)),
    );
  }

  /**
   * Into how many partitions to cut what has a size; what has none that is known, into as many as there is room for.
   */
  partitionsFor(bytes: number): number {
    const filled = Math.max(LEAST_PARTITIONS, Math.floor(this.writeBytes / BLOCK));
    const room = Math.min(this.mostPartitions, filled);
    return Math.min(room, Math.max(4, Math.ceil((2 * bytes) / this.partBytes)));
  }

  /** Between pieces of work: heeds the signal, and frees what nobody uses. */
  pause(): void {
    this.signal?.throwIfAborted();
    this.#garbage.check();
  }

  /** Where the work is done. Other threads than the calling one, and a GPU, would take memory that no limit is for. */
  async device(asked: Device | undefined): Promise<Device> {
    return asked ?? (Number.isFinite(this.memory.limit) ? loneDevice() : defaultDevice());
  }

  /** A file that is made when there is something to write. */
  file(shape: BatchShape): SpillFile {
    const file = new SpillFile(this, shape);
    this.#files.add(file);
    return file;
  }

  async newPath(): Promise<string> {
    this.#folder ??= makeTemporaryFolder(this.memory.folder);
    const { path } = await this.#folder;
    return fileModule("node:path").join(path, `${this.#names++}.arrows`);
  }

  /** Does something with files, whose errors become FileErrors. */
  async guard<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const place = temporaryPlace(this.memory.folder);
      throw fileErrorFrom(place, error, "cannot hold temporary files", "Name another folder for them.");
    }
  }

  wrote(bytes: number): void {
    this.#bytes += bytes;
  }

  /** A part was cut. @param depth how many times it was before */
  cut(partitions: number, depth: number): void {
    this.#partitions += partitions;
    this.#depth = Math.max(this.#depth, depth);
  }

  /** Removes all files, and tells what there was. */
  async close(): Promise<void> {
    for (const file of this.#files) await file.release().catch(() => {});
    await (await this.#folder?.catch(() => undefined))?.remove();
    const { onSpill } = this.memory;
    onSpill?.({ bytes: this.#bytes, partitions: this.#partitions, depth: this.#depth });
  }
}
