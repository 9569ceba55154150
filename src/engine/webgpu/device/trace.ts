/** Times the passes of a call's submissions by GPU timestamps, for `onPlan`. */
import type { PlanLog } from "../../plan-log.js";
import type { Readback } from "../memory/readback.js";
import type { Gpu } from "./gpu.js";
import { BufferUsage } from "./gpu-flags.js";
import type { Submitter } from "./submitter.js";

/** Passes that are timed until their times are read; later ones are not. */
const MOST_PASSES = 128;
const TIME_BYTES = 8;

/** The trace of one call. Its submissions come one after another. */
export class Trace implements Submitter {
  readonly #labels: string[] = [];
  readonly #times = new BigUint64Array(2 * MOST_PASSES);

  private constructor(
    private readonly gpu: Gpu,
    private readonly log: PlanLog,
    private readonly querySet: GPUQuerySet,
    private readonly resolved: GPUBuffer,
  ) {}

  /** Null where the device has no timestamps. */
  static async open(gpu: Gpu, log: PlanLog): Promise<Trace | null> {
    if (!gpu.device.features.has("timestamp-query")) return null;
    const { QUERY_RESOLVE, COPY_SRC } = BufferUsage;
    const bytes = 2 * MOST_PASSES * TIME_BYTES;
    const resolved = await gpu.memory.acquire("timestamps", { bytes, usage: QUERY_RESOLVE | COPY_SRC });
    const querySet = gpu.device.createQuerySet({ type: "timestamp", count: 2 * MOST_PASSES });
    log.clock = "gpu";
    return new Trace(gpu, log, querySet, resolved);
  }

  /** As Gpu.begin. The times come back with a later `submit`. */
  begin(
    label: string,
    record: (encoder: GPUCommandEncoder) => void,
    reads: readonly Readback[],
  ): Promise<{ arrived: Promise<void> }> {
    return this.gpu.begin(label, (encoder) => record(this.#timed(encoder)), reads);
  }

  /** As Gpu.submit. Brings the times back that are not in the log yet. */
  async submit(
    label: string,
    record: (encoder: GPUCommandEncoder) => void,
    reads: readonly Readback[] = [],
  ): Promise<void> {
    const times = { buffer: this.resolved, offset: 0, into: new Uint8Array(this.#times.buffer) };
    const recordTimed = (encoder: GPUCommandEncoder) => {
      record(this.#timed(encoder));
      const count = 2 * this.#labels.length;
      if (count > 0) encoder.resolveQuerySet(this.querySet, 0, count, this.resolved, 0);
    };
    await this.gpu.submit(label, recordTimed, [...reads, times]);
    this.#note();
  }

  /** The encoder with every compute pass timed. */
  #timed(encoder: GPUCommandEncoder): GPUCommandEncoder {
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

  /** Adds the times that came back to the log. */
  #note(): void {
    for (const [pass, label] of this.#labels.entries()) {
      const nanoseconds = this.#times[2 * pass + 1] - this.#times[2 * pass];
      // a clock that was reset in between tells nothing
      if (nanoseconds >= 0n) this.log.add(label, Number(nanoseconds) / 1e6);
    }
    this.#labels.length = 0;
  }

  close(): void {
    this.querySet.destroy();
    this.gpu.memory.release(this.resolved);
  }
}
