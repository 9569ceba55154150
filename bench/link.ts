/**
 * How fast bytes get to a GPU and back: the link alone (copies between device memory and mapped memory of the host), the
 * copies on the host alone, and what WebGPU's calls and this library make of both.
 */
import type { Device } from "../src/index.js";
import { COPY_DST, COPY_SRC, MAP_MODE_READ, MAP_READ } from "./kernel.js";
import { summarise, type Timing } from "./timing.js";

const MAP_WRITE = 0x2;
/** Bytes of one writeBuffer call. */
const PIECE = 2 ** 26;

/** A way to move bytes. */
export interface LinkRate {
  readonly name: string;
  readonly direction: "up" | "down";
  /** True for what the hardware does, false where the host copies. */
  readonly alone: boolean;
  readonly bytes: number;
  readonly timing: Timing;
}

/** A way to time: `before` runs once, before its first run. */
interface Way extends Pick<LinkRate, "name" | "direction"> {
  readonly alone?: boolean;
  readonly before?: () => unknown;
  readonly call: () => unknown;
}

/** Moves `bytes` up and down, `runs` times each way after one that does not count. A multiple of 4. */
export async function measureLink(device: Device, bytes: number, runs: number): Promise<LinkRate[]> {
  const gpu = device.gpuDevice;
  if (!gpu) return [];
  const host = new Uint8Array(bytes).fill(1);
  const array = await device.upload(host);
  const target = array.buffer as GPUBuffer;
  const up = gpu.createBuffer({ size: bytes, usage: MAP_WRITE | COPY_SRC, mappedAtCreation: true });
  const down = gpu.createBuffer({ size: bytes, usage: MAP_READ | COPY_DST });
  const done = () => gpu.queue.onSubmittedWorkDone();
  const copy = (from: GPUBuffer, to: GPUBuffer) => {
    const encoder = gpu.createCommandEncoder();
    encoder.copyBufferToBuffer(from, 0, to, 0, bytes);
    gpu.queue.submit([encoder.finish()]);
  };
  let staged = new Uint8Array(up.getMappedRange());
  const ways: Way[] = [
    { name: "upload: copy into mapped memory", direction: "up", call: () => staged.set(host) },
    {
      name: "upload: link alone",
      direction: "up",
      alone: true,
      before: () => up.unmap(),
      call: async () => {
        copy(up, target);
        await done();
      },
    },
    {
      name: "upload: writeBuffer",
      direction: "up",
      call: async () => {
        for (let at = 0; at < bytes; at += PIECE) {
          gpu.queue.writeBuffer(target, at, host.subarray(at, at + PIECE));
        }
        await done();
      },
    },
    {
      name: "upload: device.upload",
      direction: "up",
      call: async () => {
        using _uploaded = await device.upload(host);
        await done();
      },
    },
    {
      name: "download: link alone",
      direction: "down",
      alone: true,
      call: async () => {
        copy(target, down);
        await done();
      },
    },
    {
      name: "download: copy out of mapped memory",
      direction: "down",
      before: async () => {
        await down.mapAsync(MAP_MODE_READ);
        staged = new Uint8Array(down.getMappedRange());
      },
      call: () => host.set(staged),
    },
    {
      name: "download: mapAsync and a copy",
      direction: "down",
      before: () => down.unmap(),
      call: async () => {
        copy(target, down);
        await down.mapAsync(MAP_MODE_READ);
        host.set(new Uint8Array(down.getMappedRange()));
        down.unmap();
      },
    },
    // into an array of its own, whose memory is touched for the first time
    { name: "download: DeviceArray.read", direction: "down", call: () => array.read() },
  ];
  const rates: LinkRate[] = [];
  try {
    for (const { name, direction, alone = false, before, call } of ways) {
      const samples: number[] = [];
      await before?.();
      await call();
      while (samples.length < runs) {
        const start = performance.now();
        await call();
        samples.push(performance.now() - start);
      }
      rates.push({ name, direction, alone, bytes, timing: summarise(samples) });
    }
    return rates;
  } finally {
    for (const buffer of [array, up, down]) buffer.destroy();
  }
}

/** 10^9 bytes a second. */
export function linkGigabytes({ bytes, timing }: LinkRate): number {
  return bytes / timing.median / 1e6;
}
