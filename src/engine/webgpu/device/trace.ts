/** Times the passes of a call's submissions by GPU timestamps, for `onPlan`. */
import type { PlanLog } from "../../plan.js";
import type { Readback } from "../memory/readback.js";
import type { Gpu } from "./gpu.js";
import { BufferUsage } from "./gpu-flags.js";

/** Passes that are timed until their times are read; later ones are not. */
const MOST_PASSES = 128;
const TIME_BYTES = 8;

/** The trace of one call. Its submissions come one after another. */
export class Trace {
  readonly #labels: string[] = [];
  readonly #times = new BigUint64Array(2 * MOST_PASSES);

  private constructor(
    private readonly log: PlanLog,
    private readonly querySet: GPUQuerySet,
    private readonly resolved: GPUBuffer,
    private readonly free: (buffer: GPUBuffer) => void,
  ) {}

  /** Null where the device has no timestamps. */
  static async open(gpu: Gpu, log: PlanLog): Promise<Trace | null> {
    if (!gpu.device.features.has("timestamp-query")) return null;
    const { QUERY_RESOLVE, COPY_SRC } = BufferUsage;
    const bytes = 2 * MOST_PASSES * TIME_BYTES;
    const resolved = await gpu.allocate("timestamps", bytes, QUERY_RESOLVE | COPY_SRC);
    const querySet = gpu.device.createQuerySet({ type: "timestamp", count: 2 * MOST_PASSES });
    log.clock = "gpu";
    return new Trace(log, querySet, resolved, gpu.free);
  }

  /** The encoder with every compute pass timed. */
  timed(encoder: GPUCommandEncoder): GPUCommandEncoder {
    const beginComputePass = (descriptor: GPUComputePassDescriptor = {}) => {
      const pass = this.#labels.length;
      if (pass === MOST_PASSES) return encoder.beginComputePass(descriptor);
      this.#labels.push(descriptor.label ?? "pass");
      return encoder.beginComputePass({
        ...descriptor,
        timestampWrites: {
          querySet: this.querySet,
          beginningOfPassWriteIndex: 2 * pass,
          endOfPassWriteIndex: 2 * pass + 1,
        },
      });
    };
    return new Proxy(encoder, {
      get(target, name) {
        if (name === "beginComputePass") return beginComputePass;
        const member = target[name as keyof GPUCommandEncoder] as unknown;
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
  }

  /** Ends the recording of a submission whose `readback` comes back, with the times of those before it. */
  resolve(encoder: GPUCommandEncoder): void {
    const count = 2 * this.#labels.length;
    if (count > 0) encoder.resolveQuerySet(this.querySet, 0, count, this.resolved, 0);
  }

  /** What has to come back with a submission. */
  get readback(): Readback {
    return { buffer: this.resolved, offset: 0, into: new Uint8Array(this.#times.buffer) };
  }

  /** Adds the times that came back to the log. */
  note(): void {
    for (const [pass, label] of this.#labels.entries()) {
      const nanoseconds = this.#times[2 * pass + 1] - this.#times[2 * pass];
      // a clock that was reset in between tells nothing
      if (nanoseconds >= 0n) this.log.add(label, Number(nanoseconds) / 1e6);
    }
    this.#labels.length = 0;
  }

  close(): void {
    this.querySet.destroy();
    this.free(this.resolved);
  }
}
