/** Times the kernels of a call's submissions by events, for `onPlan`. */
import type { PlanLog, Readback, Recorder, Recording, Submitter } from "warpmap/engine";
import type { CudaContext } from "../driver/context.js";
import type { CudaRuntime } from "./cuda-runtime.js";

interface Timed {
  readonly label: string;
  readonly from: number;
  readonly to: number;
}

/** The trace of one call. Its submissions come one after another. */
export class Trace implements Submitter {
  readonly #timed: Timed[] = [];
  readonly #context: CudaContext;

  constructor(
    private readonly gpu: CudaRuntime,
    private readonly log: PlanLog,
  ) {
    this.#context = gpu.context;
    log.clock = "gpu";
  }

  begin(label: string, record: Recording, reads: readonly Readback[]): Promise<{ arrived: Promise<void> }> {
    return this.gpu.begin(label, (recorder) => record(this.#timing(recorder)), reads);
  }

  /** As GpuRuntime.submit; waits for the kernels, to know their times. */
  async submit(label: string, record: Recording, reads: readonly Readback[] = []): Promise<void> {
    await (await this.begin(label, record, reads)).arrived;
    await this.#context.arrived(label);
  }

  #timing(recorder: Recorder): Recorder {
    return {
      dispatch: (kernel, ...call) => {
        const from = this.#context.record({ timed: true });
        recorder.dispatch(kernel, ...call);
        const to = this.#context.record({ timed: true });
        this.#timed.push({ label: kernel.source.label, from, to });
      },
      clear: (...call) => recorder.clear(...call),
      copy: (...call) => recorder.copy(...call),
    };
  }

  /** Adds the times of kernels that are done to the log, and frees the events. */
  close(): void {
    const { api } = this.#context;
    const milliseconds = new Float32Array(1);
    for (const { label, from, to } of this.#timed.splice(0)) {
      if (api.cuEventElapsedTime(milliseconds, from, to) === 0) this.log.add(label, milliseconds[0]);
      api.cuEventDestroy_v2(from);
      api.cuEventDestroy_v2(to);
    }
  }
}
