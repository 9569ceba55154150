/**
 * Cuts long batches into chunks of about 100 ms of GPU time: longer dispatches trip watchdogs (Windows resets the GPU
 * after about 2 s) and keep signals and progress waiting. The size follows the speed that was seen before, per operation.
 */
export class Pacer {
  readonly #perMillisecond = new Map<string, number>();

  /** @param firstChunk elements of the first chunk of an operation whose speed is not known. */
  constructor(private readonly firstChunk: number) {}

  /** Elements of the next chunk, a multiple of 1,024 and at least that. */
  next(operation: string): number {
    const speed = this.#perMillisecond.get(operation);
    const elements = speed === undefined ? this.firstChunk : speed * TARGET_MS;
    return Math.max(1024, Math.min(MAX_CHUNK, Math.floor(elements / 1024) * 1024));
  }

  /** Notes how long a chunk took. Small chunks say nothing about speed: their time is latency. */
  took(operation: string, elements: number, milliseconds: number): void {
    if (elements < this.firstChunk && milliseconds < TARGET_MS) return;
    this.#perMillisecond.set(operation, elements / Math.max(milliseconds, 0.001));
  }
}

const TARGET_MS = 100;
/** Element numbers times four bytes stay below the largest binding any WebGPU device offers (4 GiB). */
const MAX_CHUNK = 2 ** 28;
