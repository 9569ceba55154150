/**
 * Kernels of sketches as calls on small batches do not start them: few workgroups, which go on to the end of a chunk, and
 * keys that begin at any word.
 */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Constants, KernelSource } from "../../../../src/engine/gpu/kernel-source.js";
import type { Params } from "../../../../src/engine/gpu/runtime.js";
import {
  FILTER_TILE,
  FILTER_WORKGROUP,
  filterAdd,
  filterContains,
  keyConstants,
  registersAdd,
} from "../../../../src/engine/gpu/sketches/sketch-kernels.js";
import { asBytes } from "../../../../src/engine/scalars.js";
import { addToFilter, addToRegisters, inFilter, keysOf } from "../../../conformance/helpers/sketch-model.js";
import { type GpuEngine, openGpu } from "../helpers/open-gpu.js";

let engine: GpuEngine;
beforeAll(async () => {
  engine = await openGpu();
});
afterAll(() => engine?.destroy());

/** Runs a kernel. Answers what is in the last of its buffers then. @param contents of its buffers */
async function ran<B extends string>(
  source: KernelSource<string, B>,
  constants: Constants,
  contents: { readonly [N in B]?: Uint8Array },
  params: Params<string>,
  workgroups: number,
): Promise<Uint8Array> {
  const { gpu } = engine.tableHost;
  const kernel = await gpu.compile(source, constants as never);
  const buffers = new Map<string, { buffer: Awaited<ReturnType<typeof gpu.memory.acquire>>; size: number }>();
  for (const [name, bytes] of Object.entries<Uint8Array>(contents as never)) {
    const buffer = await gpu.memory.acquire("test", { bytes: bytes.length });
    await gpu.upload(buffer, 0, bytes);
    buffers.set(name, { buffer, size: bytes.length });
  }
  const last = [...buffers.values()].at(-1) as { buffer: never; size: number };
  const into = new Uint8Array(last.size);
  const bindings = Object.fromEntries(buffers) as never;
  await gpu.submit("test", (recorder) => recorder.dispatch(kernel, bindings, params as never, workgroups), [
    { buffer: last.buffer, offset: 0, into },
  ]);
  for (const { buffer } of buffers.values()) gpu.memory.release(buffer);
  return into;
}

/** Words behind `shift` others, up to a multiple of 16 bytes. */
function shifted(words: Uint8Array, shift: number): Uint8Array {
  const bytes = new Uint8Array(Math.ceil((words.length + shift * 4) / 16) * 16);
  bytes.set(words, shift * 4);
  return bytes;
}

const KINDS = [
  ["u32", 0],
  ["u32", 3],
  ["f32", 1],
  ["u64", 0],
  ["u64", 2],
] as const;

describe.each(KINDS)("%s keys that begin at word %i", (key, shift) => {
  const count = 9003;
  const keys = keysOf(key, count);
  const where = Uint8Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 1 : 0));
  const inputs = { keys: shifted(asBytes(keys), shift), mask: shifted(where, 1) };
  const params = { count, keyShift: shift, maskShift: 1 };

  it.each([
    ["of its own", true, false],
    ["of all", false, false],
    ["of its own, masked,", true, true],
  ])("raise registers %s as the model does", async (_, LOCAL, MASKED) => {
    const constants = { ...keyConstants(key), WORKGROUP: 64, PRECISION: 8, LOCAL, MASKED };
    const model = new Uint8Array(256).fill(2);
    const contents = { ...inputs, registers: asBytes(new Uint32Array(256).fill(2)) };
    if (!MASKED) Reflect.deleteProperty(contents, "mask");
    const bytes = await ran(registersAdd as never, constants, contents, params, 3);
    addToRegisters(model, key, keys, MASKED ? where : undefined);
    expect(Uint8Array.from(new Uint32Array(bytes.buffer))).toEqual(model);
  });

  it("set bits, and are found, as the model says", async () => {
    const constants = { ...keyConstants(key), WORKGROUP: FILTER_WORKGROUP, MASKED: true };
    const told = { ...params, blocks: 301 };
    const model = new Uint8Array(301 * 32);
    const tiles = Math.ceil(count / FILTER_TILE);
    const bits = await ran(filterAdd as never, constants, { ...inputs, bits: model }, told, tiles);
    addToFilter(model, key, keys, where);
    expect(bits).toEqual(model);
    const every = { ...constants, MASKED: false };
    const contents = { keys: inputs.keys, halves: bits, flags: new Uint8Array(9004) };
    const found = await ran(filterContains as never, every, contents, told, tiles);
    expect(found.subarray(0, count)).toEqual(inFilter(model, key, keys));
  });
});
