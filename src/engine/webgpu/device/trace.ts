/** Times the passes of a call's submissions by GPU timestamps, for `onPlan`. */
import type { GpuBuffer, Readback, Recorder, Recording, Submitter } from "../../gpu/runtime.js";
import type { PlanLog } from "../../plan-log.js";
import { BufferUsage } from "./gpu-flags.js";
import { native, type WebgpuRecorder } from "./recorder.js";
import type { WebgpuRuntime } from "./webgpu-runtime.js";

/** Passes that are timed until their times are read; later ones are not. */
const MOST_PASSES = 128;
const TIME_BYTES = 8;

/** The trace of one call. Its submissions come one after another. */
export class Trace implements Submitter {
  readonly #labels: string[] = [];
  readonly #times = new BigUint64Array(2 * MOST_PASSES);

  private constructor(
    private readonly gpu: WebgpuRuntime,
    private readonly log: PlanLog,
    private readonly querySet: GPUQuerySet,
    private readonly resolved: GpuBuffer,
  ) {}

  /** Null where the device has no timestamps. */
  static async open(gpu: WebgpuRuntime, log: PlanLog): Promise<Trace | null> {
    if (!gpu.device.features.has("timestamp-query")) return null;
    const { QUERY_RESOLVE, COPY_SRC } = BufferUsage;
    const bytes = 2 * MOST_PASSES * TIME_BYTES;
    const resolved = await gpu.memory.acquire("timestamps", { bytes, usage: QUERY_RESOLVE | COPY_SRC });
    const querySet = gpu.device.createQuerySet({ type: "timestamp", count: 2 * MOST_PASSES });
    log.clock = "gpu";
    return new Trace(gpu, log, querySet, resolved);
  }

  /** As GpuRuntime.begin. The times come back with a later `submit`. */
  begin(label: string, record: Recording, reads: readonly Readback[]): Promise<{ arrived: Promise<void> }> {
    return this.gpu.begin(label, (recorder) => record(this.#timed(recorder)), reads);
  }

  /** As GpuRuntime.submit. Brings the times back that are not in the log yet. */
  async submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    const times = { buffer: this.resolved, offset: 0, into: new Uint8Array(this.#times.buffer) };
    const recordTimed = (recorder: Recorder) => {
      record(this.#timed(recorder));
      const count = 2 * this.#labels.length;
      const { encoder } = recorder as WebgpuRecorder;
      if (count > 0) encoder.resolveQuerySet(this.querySet, 0, count, native(this.resolved), 0);
    };
    await this.gpu.submit(label, recordTimed, [...reads, times]);
    this.#note();
  }

  #timed(recorder: Recorder): Recorder {
    (recorder as WebgpuRecorder).describe = (label) => {
      const pass = this.#labels.length;
      if (pass === MOST_PASSES) return { label };
      this.#labels.push(label);
      const [beginningOfPassWriteIndex, endOfPassWriteIndex] = [2 * pass, 2 * pass + 1];
      const { querySet } = this;
      return { label, timestampWrites: { querySet, beginningOfPassWriteIndex, endOfPassWriteIndex } };
    };
    return recorder;
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
