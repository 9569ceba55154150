/**
 * Cuts long batches into chunks of about 100 ms of GPU time: longer dispatches trip watchdogs (Windows resets the GPU
 * after about 2 s) and keep signals and progress waiting. The size follows the speed that was seen before, per
 * operation.
 */
export class Pacer {
  readonly #perMillisecond = new Map<string, number>();

  /**
   * @param firstChunk elements of the first chunk of an operation whose speed is not known.
   * @param compiling milliseconds that kernels took to compile so far, which say nothing of a chunk's speed.
   */
  constructor(
    private readonly firstChunk: number,
    private readonly compiling: () => number = () => 0,
  ) {}

  /** Elements of the next chunk, a multiple of 1,024 and at least that. */
  next(operation: string): number {
    const speed = this.#perMillisecond.get(operation);
    const elements = speed === undefined ? this.firstChunk : speed * TARGET_MS;
    return Math.max(1024, Math.min(MAX_CHUNK, Math.floor(elements / 1024) * 1024));
  }

  /**
   * Runs a chunk, and notes how long it took. While kernels are compiled, for it or for others, that says nothing of
   * its speed.
   */
  async time(operation: string, elements: number, run: () => Promise<void>): Promise<void> {
    const compiled = this.compiling();
    const start = performance.now();
    await run();
    if (this.compiling() === compiled) this.took(operation, elements, performance.now() - start);
  }

  /**
   * Notes how long a chunk took. A slow chunk makes the next one shorter at once; fast ones make it longer again, at
   * most twofold each. Fast chunks that are shorter than asked for (a batch's last) say nothing: their time is latency.
   */
  took(operation: string, elements: number, milliseconds: number): void {
    if (elements < this.next(operation) && milliseconds < TARGET_MS) return;
    const seen = elements / Math.max(milliseconds, 1);
    const known = this.#perMillisecond.get(operation) ?? seen;
    this.#perMillisecond.set(operation, Math.min(seen, 2 * known));
  }
}

const TARGET_MS = 100;
/** Element numbers times four bytes stay below the largest binding any WebGPU device offers (4 GiB). */
const MAX_CHUNK = 2 ** 28;
