/** GPUDevices of the tests' own whose memory is limited, or whose commands are counted and fail on demand. */
import { Device } from "../../../../src/index.js";
import { openEngine } from "./open-engine.js";
import { withMembers } from "./own-gpu.js";

/** Elements of a chunk of host memory on devices of `openInChunks`. */
export const CHUNK = 1024;

/** A device that takes host memory 1,024 elements at a time, through small staging buffers. */
export async function openInChunks(
  gpuDevice: GPUDevice,
  staging = { bytes: 1024, count: 3 },
): Promise<Device> {
  const engine = await openEngine({ gpuDevice, tuning: { hostChunk: CHUNK, staging } });
  return new Device(engine, "A test of chunks that overlap.");
}

/**
 * A GPUDevice whose buffers of `least` bytes or more come out of `left` bytes. SwiftShader itself would take all of the
 * machine's.
 */
export function withMemory(real: GPUDevice, left: number, least: number): GPUDevice {
  return withAllocator(real, {
    take(size) {
      if (size < least) return true;
      if (size > left) return false;
      left -= size;
      return true;
    },
    give(size) {
      if (size >= least) left += size;
    },
  });
}

/** Lets a device run out of memory when it is told. */
export class Scarcity {
  /** Allocations that were tried since `after`. */
  tried = 0;
  /** Buffers that were made and not destroyed. */
  live = 0;
  #most = Number.POSITIVE_INFINITY;

  /** From now on n allocations succeed, and no more. */
  after(n: number): void {
    this.#most = n;
    this.tried = 0;
  }

  on(real: GPUDevice): GPUDevice {
    return withAllocator(real, {
      take: () => {
        if (++this.tried > this.#most) return false;
        this.live++;
        return true;
      },
      give: () => this.live--,
    });
  }
}

/** A GPUDevice that has the memory for a buffer if `take` says so. */
function withAllocator(
  real: GPUDevice,
  { take, give }: { take: (size: number) => boolean; give: (size: number) => void },
): GPUDevice {
  const scopes: { filter: string; failed: boolean }[] = [];
  return withMembers(real, {
    createBuffer(descriptor) {
      const { size } = descriptor;
      const scope = scopes.findLast(({ filter }) => filter === "out-of-memory");
      if (!scope) return real.createBuffer(descriptor);
      if (!take(size)) {
        scope.failed = true;
        return real.createBuffer({ ...descriptor, size: 16 });
      }
      const buffer = real.createBuffer(descriptor);
      const destroy = buffer.destroy.bind(buffer);
      buffer.destroy = () => {
        give(size);
        return destroy();
      };
      return buffer;
    },
    pushErrorScope(filter) {
      scopes.push({ filter, failed: false });
      real.pushErrorScope(filter);
    },
    async popErrorScope() {
      const failed = scopes.pop()?.failed;
      const error = await real.popErrorScope();
      return failed ? ({ message: "Out of memory" } as GPUError) : error;
    },
  });
}

/** What happened on a watched device, by the labels of encoders and buffers. */
export class Watch {
  /** Submissions in order. */
  readonly submitted: string[] = [];
  /** Dispatches in order, by kernel. */
  readonly dispatched: string[] = [];
  /** Buffers that were made and not destroyed. */
  readonly live = new Map<string, number>();
  #failing: { label: string; in: number } | null = null;

  /** Lets the n-th submission from now on with this label fail. */
  failAt(label: string, n: number): void {
    this.#failing = { label, in: n };
  }

  count(label: string): number {
    return this.submitted.filter((each) => each === label).length;
  }

  /** The device, watched. */
  on(real: GPUDevice): GPUDevice {
    return withMembers(real, {
      createCommandEncoder: (descriptor) => {
        const { label = "" } = descriptor ?? {};
        this.submitted.push(label);
        if (this.#failing?.label === label && --this.#failing.in === 0) throw new InjectedError(label);
        const encoder = real.createCommandEncoder(descriptor);
        const begin = encoder.beginComputePass.bind(encoder);
        encoder.beginComputePass = (pass) => {
          this.dispatched.push(pass?.label ?? "");
          return begin(pass);
        };
        return encoder;
      },
      createBuffer: (descriptor) => {
        const { label = "" } = descriptor;
        const buffer = real.createBuffer(descriptor);
        const destroy = buffer.destroy.bind(buffer);
        this.#add(label, 1);
        buffer.destroy = () => {
          this.#add(label, -1);
          return destroy();
        };
        return buffer;
      },
    });
  }

  #add(label: string, change: number): void {
    this.live.set(label, (this.live.get(label) ?? 0) + change);
  }
}

/** What a submission fails with that was asked to. */
export class InjectedError extends Error {
  constructor(label: string) {
    super(`injected into ${label}`);
  }
}
