/** Progress of a call that goes over its elements several times: one engine operation after another, told as one. */
import type { CallOptions } from "../engine/engine.js";

export class Stages {
  #told = -1;
  #stage = 0;

  /**
   * @param call what the user is told
   * @param elements of the call, whatever an operation goes over
   * @param stages how many operations there will be, at most
   */
  constructor(
    private readonly call: CallOptions,
    private readonly elements: number,
    private readonly stages: number,
  ) {}

  /** Options of the next operation: those of the call, with progress that goes on from the operation before. */
  next(): CallOptions {
    const { call, elements, stages } = this;
    const stage = this.#stage++;
    if (call.onProgress === undefined) return call;
    const onProgress = (done: number, total: number) => {
      const part = (stage + (total === 0 ? 1 : done / total)) / stages;
      this.#tell(Math.min(elements - 1, Math.floor(part * elements)));
    };
    return { ...call, onProgress };
  }

  /** Tells that all is done. */
  finish(): void {
    this.#tell(this.elements);
  }

  #tell(done: number): void {
    if (done <= this.#told || (done <= 0 && this.elements > 0)) return;
    this.#told = done;
    this.call.onProgress?.(done, this.elements);
  }
}
