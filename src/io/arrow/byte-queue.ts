/** Bytes that come in pieces, taken in other pieces. */
import { joined } from "../source.js";

export class ByteQueue {
  readonly #pieces: AsyncIterator<Uint8Array>;
  #waiting: Uint8Array[] = [];
  #size = 0;

  constructor(pieces: AsyncIterable<Uint8Array>) {
    this.#pieces = pieces[Symbol.asyncIterator]();
  }

  /** The next `count` bytes, which stay; fewer where there are no more. */
  async peek(count: number): Promise<Uint8Array> {
    while (this.#size < count) {
      const { value, done } = await this.#pieces.next();
      if (done) break;
      this.#waiting.push(value);
      this.#size += value.length;
    }
    if (this.#waiting.length !== 1) this.#waiting = [joined(this.#waiting)];
    return this.#waiting[0].subarray(0, count);
  }

  /** The next `count` bytes; fewer where there are no more. */
  async take(count: number): Promise<Uint8Array> {
    const taken = await this.peek(count);
    this.#waiting = [this.#waiting[0].subarray(taken.length)];
    this.#size -= taken.length;
    return taken;
  }

  /** All bytes that are left. */
  rest(): Promise<Uint8Array> {
    return this.take(Number.POSITIVE_INFINITY);
  }

  async close(): Promise<void> {
    await this.#pieces.return?.();
  }
}
