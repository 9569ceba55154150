/**
 * How long the kernels of a call take on the GPU, without a change to whoever records them: while a call runs, every compute
 * pass that the device records writes timestamps. Wall time of a call less this is what the host, the bus and waiting cost.
 */
import { TimestampPairs } from "./gpu-clock.js";

/** Milliseconds by label of the passes, in the order of their first use. */
export type PassTimes = ReadonlyMap<string, number>;

/** Passes of one call that can be timed: half of the timestamps that a query set holds. */
const MOST_PASSES = 2048;

/** Times the passes of calls on one device. Not for two calls at once. */
export class PassTimer {
  readonly #pairs: TimestampPairs;

  /** @returns null where the device has no timestamps. */
  static open(device: GPUDevice): PassTimer | null {
    return device.features.has("timestamp-query") ? new PassTimer(device) : null;
  }

  private constructor(private readonly device: GPUDevice) {
    this.#pairs = new TimestampPairs(device, MOST_PASSES);
  }

  /** Runs `call` and answers what its passes took, and what it answered. Passes after the 2,048th are not in it. */
  async time<T>(call: () => T): Promise<{ times: PassTimes; result: Awaited<T> }> {
    const { device } = this;
    const labels: string[] = [];
    const createCommandEncoder = device.createCommandEncoder.bind(device);
    // an own property hides the prototype's method until it is deleted
    device.createCommandEncoder = (descriptor) => {
      const encoder = createCommandEncoder(descriptor);
      const begin = encoder.beginComputePass.bind(encoder);
      encoder.beginComputePass = (pass = {}) => {
        if (pass.timestampWrites || labels.length === MOST_PASSES) return begin(pass);
        labels.push(pass.label ?? "");
        return begin({ ...pass, timestampWrites: this.#pairs.writes(labels.length - 1) });
      };
      return encoder;
    };
    let result: Awaited<T>;
    try {
      result = await call();
    } finally {
      Reflect.deleteProperty(device, "createCommandEncoder");
    }
    const times = new Map<string, number>();
    for (const [i, ms] of (await this.#pairs.read(labels.length)).entries()) {
      times.set(labels[i], (times.get(labels[i]) ?? 0) + ms);
    }
    return { times, result };
  }

  destroy(): void {
    this.#pairs.destroy();
  }
}
