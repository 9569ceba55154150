/** Host memory through the staging buffers of uploads: any length, any source, many at once, and without memory for them. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readBytes } from "../../../../src/engine/gpu/memory/read-bytes.js";
import type { Recorder } from "../../../../src/engine/gpu/runtime.js";
import { BufferUsage } from "../../../../src/engine/webgpu/device/gpu-flags.js";
import { WebgpuRuntime } from "../../../../src/engine/webgpu/device/webgpu-runtime.js";
import { EngineError } from "../../../../src/errors.js";
import { expectSame, rejection } from "../../../conformance/helpers/checks.js";
import { ownGpuDevice } from "../helpers/own-gpu.js";
import { Watch, withMemory } from "../helpers/watched-gpu.js";

const { STORAGE, COPY_SRC, COPY_DST } = BufferUsage;
const USAGE = STORAGE | COPY_SRC | COPY_DST;
/** No buffer is smaller. */
const SMALLEST = 256;
/** Small enough that every length below but 0 is staged. */
const staging = { bytes: 16, count: 2 };

let real: GPUDevice;
beforeAll(async () => {
  real = await ownGpuDevice();
});
afterAll(() => real?.destroy());

const open = (device: GPUDevice) => new WebgpuRuntime(device, { software: true, owned: false, staging });
const bytesOf = (length: number, start = 1) => Uint8Array.from({ length }, (_, i) => (start + i * 7) % 251);

/** Uploads to a buffer of 0xff bytes, and reads all of it. */
async function uploaded(gpu: WebgpuRuntime, data: Uint8Array, offset = 0): Promise<Uint8Array> {
  const size = Math.ceil((offset + data.length) / 4) * 4 + 8;
  const buffer = await gpu.memory.allocate("target", size, USAGE);
  gpu.write(buffer, 0, new Uint8Array(size).fill(0xff));
  await gpu.upload(buffer, offset, data);
  const into = new Uint8Array(size);
  await readBytes(gpu, "read", { buffer, offset: 0, into });
  gpu.memory.free(buffer);
  return into;
}

/** What `uploaded` must answer: whole words are written, the last one filled up with zeros. */
function expected(data: Uint8Array, offset = 0): Uint8Array {
  const words = Math.ceil(data.length / 4) * 4;
  const all = new Uint8Array(Math.ceil((offset + data.length) / 4) * 4 + 8).fill(0xff);
  all.fill(0, offset, offset + words);
  all.set(data, offset);
  return all;
}

describe("an upload", () => {
  it("of any length writes its bytes, zeros up to a whole word, and no others", async () => {
    const watch = new Watch();
    const gpu = open(watch.on(real));
    for (const length of [0, 1, 3, 4, 5, 15, 16, 17, 31, 32, 33, 100, 1001]) {
      const before = watch.count("upload");
      expectSame(await uploaded(gpu, bytesOf(length)), expected(bytesOf(length)));
      expect(watch.count("upload") - before).toBe(Math.ceil(length / staging.bytes));
      expectSame(await uploaded(gpu, bytesOf(length), 20), expected(bytesOf(length), 20));
    }
    gpu.destroy();
  });

  it("takes views of larger and of shared memory", async () => {
    const gpu = open(real);
    const view = bytesOf(200).subarray(3, 104);
    expectSame(await uploaded(gpu, view), expected(view));
    const shared = new Uint8Array(new SharedArrayBuffer(77));
    shared.set(bytesOf(77));
    expectSame(await uploaded(gpu, shared), expected(bytesOf(77)));
    gpu.destroy();
  });

  it("shares a few staging buffers with all others that are under way", async () => {
    const watch = new Watch();
    const gpu = open(watch.on(real));
    const all = Array.from({ length: 20 }, (_, i) => bytesOf(100 + i, i));
    const answers = await Promise.all(all.map((data) => uploaded(gpu, data)));
    for (const [i, answer] of answers.entries()) expectSame(answer, expected(all[i]));
    expect(watch.live.get("upload")).toBe(staging.count);
    gpu.destroy();
    expect(watch.live.get("upload")).toBe(0);
  });

  it("is there for what is submitted after it", async () => {
    const gpu = open(real);
    const [from, to] = [
      await gpu.memory.allocate("from", 400, USAGE),
      await gpu.memory.allocate("to", 400, USAGE),
    ];
    const into = new Uint8Array(400);
    for (let round = 0; round < 5; round++) {
      await gpu.upload(from, 0, bytesOf(400, round));
      const copy = (recorder: Recorder) => recorder.copy(from, 0, to, 0, 400);
      await gpu.submit("copy", copy, [{ buffer: to, offset: 0, into }]);
      expectSame(into, bytesOf(400, round));
    }
    gpu.destroy();
  });

  it("goes without staging buffers where there is no memory for them", async () => {
    const watch = new Watch();
    const gpu = open(withMemory(watch.on(real), 0, 16));
    const buffer = real.createBuffer({ size: 104, usage: USAGE });
    const into = new Uint8Array(101);
    await gpu.upload(buffer, 0, bytesOf(101));
    expect(watch.count("upload")).toBe(0);
    const copy = real.createBuffer({ size: 104, usage: COPY_DST | BufferUsage.MAP_READ });
    const encoder = real.createCommandEncoder();
    encoder.copyBufferToBuffer(buffer, 0, copy, 0, 104);
    real.queue.submit([encoder.finish()]);
    await copy.mapAsync(1);
    into.set(new Uint8Array(copy.getMappedRange(), 0, 101));
    expectSame(into, bytesOf(101));
    for (const each of [buffer, copy]) each.destroy();
    gpu.destroy();
  });

  it("gives staging buffers up when memory is wanted", async () => {
    const watch = new Watch();
    const gpu = open(withMemory(watch.on(real), 3 * SMALLEST, 16));
    const small = await gpu.memory.allocate("small", 100, USAGE);
    await gpu.upload(small, 0, bytesOf(100));
    expect(watch.live.get("upload")).toBe(staging.count);
    const large = await gpu.memory.allocate("large", 100, USAGE);
    expect(watch.live.get("upload")).toBe(0);
    await gpu.upload(large, 0, bytesOf(100));
    gpu.destroy();
  });

  it("that is aborted ends with the reason, and one that is refused with the error", async () => {
    const gpu = open(real);
    const buffer = await gpu.memory.allocate("target", 1000, USAGE);
    const stop = new AbortController();
    const call = gpu.upload(buffer, 0, bytesOf(1000), stop.signal);
    stop.abort(new RangeError("enough"));
    expect((await rejection(call, RangeError)).message).toBe("enough");
    const beyond = gpu.upload(buffer, 800, bytesOf(1000));
    expect((await rejection(beyond, EngineError)).message).toMatch(/upload failed/);
    await gpu.upload(buffer, 0, bytesOf(1000, 9));
    const into = new Uint8Array(1000);
    await readBytes(gpu, "read", { buffer, offset: 0, into });
    expectSame(into, bytesOf(1000, 9));
    gpu.destroy();
  });
});
