/**
 * The time that commands take on a GPU: by timestamp queries, or where the device has none by the wall clock around a
 * submission and its end. Browsers quantise timestamps, and Dawn does on devices that openDevice has not opened, to
 * 65.5 us and more: samples have to be much longer than that.
 */

// WebGPU's usage bits: browsers have them as globals, Node does not
const MAP_READ = 0x1;
const COPY_SRC = 0x4;
const COPY_DST = 0x8;
const QUERY_RESOLVE = 0x200;
const MAP_MODE_READ = 1;

/** Timestamps of one device: pairs of a beginning and an end, in nanoseconds. */
export class TimestampPairs {
  readonly querySet: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  readonly #staging: GPUBuffer;

  /** @param pairs at most 2,048, half of what a query set holds. */
  constructor(
    private readonly device: GPUDevice,
    readonly pairs: number,
  ) {
    const size = pairs * 16;
    this.querySet = device.createQuerySet({ type: "timestamp", count: pairs * 2 });
    this.#resolved = device.createBuffer({ size, usage: QUERY_RESOLVE | COPY_SRC });
    this.#staging = device.createBuffer({ size, usage: MAP_READ | COPY_DST });
  }

  /** What makes a pass write pair `index`. */
  writes(index: number): GPUComputePassTimestampWrites {
    return {
      querySet: this.querySet,
      beginningOfPassWriteIndex: index * 2,
      endOfPassWriteIndex: index * 2 + 1,
    };
  }

  /** Milliseconds between beginning and end of the first `count` pairs, once everything submitted has run. */
  async read(count: number): Promise<number[]> {
    if (count === 0) return [];
    const encoder = this.device.createCommandEncoder({ label: "timestamps" });
    encoder.resolveQuerySet(this.querySet, 0, count * 2, this.#resolved, 0);
    encoder.copyBufferToBuffer(this.#resolved, 0, this.#staging, 0, count * 16);
    this.device.queue.submit([encoder.finish()]);
    await this.#staging.mapAsync(MAP_MODE_READ, 0, count * 16);
    const stamps = new BigUint64Array(this.#staging.getMappedRange(0, count * 16).slice(0));
    this.#staging.unmap();
    return Array.from({ length: count }, (_, i) => Number(stamps[2 * i + 1] - stamps[2 * i]) / 1e6);
  }

  destroy(): void {
    this.querySet.destroy();
    this.#resolved.destroy();
    this.#staging.destroy();
  }
}

/** How a {@link GpuClock} tells the time. */
export type ClockName = "timestamp-query" | "wall clock";

/** Times the commands of one compute pass. */
export class GpuClock {
  readonly name: ClockName;
  /** How long a sample has to be, in milliseconds, for the clock's own error to be below 1 %. */
  readonly leastSampleMs: number;
  readonly #pair: TimestampPairs | null;

  /** @param name which clock to take. Default: timestamps where the device has them. */
  constructor(
    private readonly device: GPUDevice,
    name: ClockName = device.features.has("timestamp-query") ? "timestamp-query" : "wall clock",
  ) {
    this.name = name;
    this.leastSampleMs = name === "timestamp-query" ? 10 : 50;
    this.#pair = name === "timestamp-query" ? new TimestampPairs(device, 1) : null;
  }

  /** Records a pass, submits it, and answers the milliseconds it took. */
  async time(record: (pass: GPUComputePassEncoder) => void): Promise<number> {
    const { device } = this;
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass(this.#pair ? { timestampWrites: this.#pair.writes(0) } : {});
    record(pass);
    pass.end();
    const commands = encoder.finish();
    await device.queue.onSubmittedWorkDone();
    const start = performance.now();
    device.queue.submit([commands]);
    if (this.#pair) return (await this.#pair.read(1))[0];
    await device.queue.onSubmittedWorkDone();
    return performance.now() - start;
  }

  destroy(): void {
    this.#pair?.destroy();
  }
}
