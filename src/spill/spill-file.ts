/**
 * A temporary file of rows: Arrow IPC streams of one record batch each, end to end. Where each begins is kept in
 * memory. Written once, then read as often as one likes.
 */
import type { FileHandle } from "node:fs/promises";
import { type BatchShape, Gathered, RowBatch } from "../arrow/row-batch.js";
import { fileModule } from "../io/builtin.js";
import { joined } from "../io/source.js";
import type { Part } from "./part.js";
import type { SpillSession } from "./spill-session.js";

/** Where one batch is. */
interface Block {
  readonly start: number;
  readonly length: number;
  readonly rows: number;
}

export class SpillFile implements Part {
  rows = 0;
  bytes = 0;
  #length = 0;
  readonly #blocks: Block[] = [];
  #path: string | undefined;
  #file: FileHandle | undefined;

  constructor(
    readonly session: SpillSession,
    readonly shape: BatchShape,
  ) {}

  /** Writes rows behind those that are there. @throws FileError when the file cannot be written */
  async append(batch: RowBatch): Promise<void> {
    const bytes = joined(batch.toIpc());
    await this.session.guard(async () => {
      this.#path ??= await this.session.newPath();
      this.#file ??= await fileModule("node:fs/promises").open(this.#path, "wx+");
      for (let done = 0; done < bytes.length; ) {
        const { bytesWritten } = await this.#file.write(
          bytes,
          done,
          bytes.length - done,
          this.#length + done,
        );
        done += bytesWritten;
      }
    });
    this.#blocks.push({ start: this.#length, length: bytes.length, rows: batch.rows });
    this.#length += bytes.length;
    this.bytes += this.rows === 0 ? batch.bytes : batch.rowBytes;
    this.rows += batch.rows;
    this.session.wrote(bytes.length);
  }

  /**
   * Nothing more is written. The file is closed until it is read: there may be more of them than a process can have
   * open.
   */
  async written(): Promise<void> {
    await this.#close();
  }

  async *pieces(bytes: number): AsyncGenerator<RowBatch> {
    const gathered = new Gathered(this.shape, bytes);
    for (const block of this.#blocks) {
      this.session.pause();
      const enough = gathered.add(RowBatch.fromIpc(this.shape, await this.#read(block), block.rows));
      if (enough) yield enough;
    }
    const rest = gathered.rest();
    if (rest) yield rest;
  }

  async #read({ start, length }: Block): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    await this.session.guard(async () => {
      this.#file ??= await fileModule("node:fs/promises").open(this.#path as string);
      for (let done = 0; done < length; ) {
        const { bytesRead } = await this.#file.read(bytes, done, length - done, start + done);
        if (bytesRead === 0) throw new Error("it is shorter than it was");
        done += bytesRead;
      }
    });
    return bytes;
  }

  async release(): Promise<void> {
    await this.#close();
    if (this.#path === undefined) return;
    await fileModule("node:fs/promises").rm(this.#path, { force: true });
    this.#path = undefined;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}
