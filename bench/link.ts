/**
 * How fast bytes get to a GPU and back: the link alone (copies between device memory and mapped memory of the host), and what
 * WebGPU's calls make of it, which copy on the host as well.
 */
import { COPY_DST, COPY_SRC, MAP_MODE_READ, MAP_READ, STORAGE } from "./kernel.js";
import { summarise, type Timing } from "./timing.js";

const MAP_WRITE = 0x2;
/** Bytes of one writeBuffer call: as much as the engine gives it. */
const PIECE = 2 ** 26;

/** A way to move bytes. */
export interface LinkRate {
  readonly name: string;
  readonly direction: "up" | "down";
  /** True for what the hardware does, false for a call with copies on the host. */
  readonly alone: boolean;
  readonly bytes: number;
  readonly timing: Timing;
}

/** Moves `bytes` up and down, `runs` times each way after one that does not count. A multiple of 4. */
export async function measureLink(gpu: GPUDevice, bytes: number, runs: number): Promise<LinkRate[]> {
  const host = new Uint8Array(bytes).fill(1);
  const device = gpu.createBuffer({ size: bytes, usage: STORAGE | COPY_SRC | COPY_DST });
  const up = gpu.createBuffer({ size: bytes, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true });
  new Uint8Array(up.getMappedRange()).set(host);
  up.unmap();
  const down = gpu.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
  const done = () => gpu.queue.onSubmittedWorkDone();
  const copy = (from: GPUBuffer, to: GPUBuffer) => {
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, to, 0, bytes);
    gpu.queue.submit([encoder.finish()]);
  };
  const ways = [
    {
      name: "upload: link alone",
      direction: "up" as const,
      alone: true,
      call: async () => {
        copy(up, device);
        await done();
      },
    },
    {
      name: "upload: writeBuffer",
      direction: "up" as const,
      alone: false,
      call: async () => {
        for (let at = 0; at < bytes; at += PIECE) {
          gpu.queue.writeBuffer(device, at, host.subarray(at, at + PIECE));
        }
        await done();
      },
    },
    {
      name: "download: link alone",
      direction: "down" as const,
      alone: true,
      call: async () => {
        copy(device, down);
        await done();
      },
    },
    {
      name: "download: mapAsync and a copy",
      direction: "down" as const,
      alone: false,
      call: async () => {
        copy(device, down);
        await down.mapAsync(MAP_MODE_READ);
        host.set(new Uint8Array(down.getMappedRange()));
        down.unmap();
      },
    },
  ];
  const rates: LinkRate[] = [];
  try {
    for (const { call, ...way } of ways) {
      const samples: number[] = [];
      await call();
      while (samples.length < runs) {
        const start = performance.now();
        await call();
        samples.push(performance.now() - start);
      }
      rates.push({ ...way, bytes, timing: summarise(samples) });
    }
    return rates;
  } finally {
    for (const buffer of [device, up, down]) buffer.destroy();
  }
}

/** 10^9 bytes a second. */
export function linkGigabytes({ bytes, timing }: LinkRate): number {
  return bytes / timing.median / 1e6;
}
