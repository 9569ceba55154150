/** Parameters of a dispatch in several objects. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { scanKernels } from "../../../../src/engine/gpu/groups/scan.js";
import { asBytes } from "../../../../src/engine/scalars.js";
import { type GpuEngine, openGpu } from "../helpers/open-gpu.js";

let engine: GpuEngine;
beforeAll(async () => {
  engine = await openGpu();
});
afterAll(() => engine?.destroy());

const ONES = new Uint32Array(8).fill(1);

/** What a scan makes of eight ones, of which `total` tells how many it takes. */
async function scanned(params: object): Promise<number[]> {
  const { gpu } = engine.tableHost;
  const scan = await gpu.compile(scanKernels.scan, {});
  const wanted = { bytes: ONES.byteLength };
  const [words, tileSums] = [
    await gpu.memory.acquire("test", wanted),
    await gpu.memory.acquire("test", wanted),
  ];
  await gpu.upload(words, 0, asBytes(ONES));
  const into = new Uint8Array(ONES.byteLength);
  const bindings = { words: { buffer: words }, tileSums: { buffer: tileSums } };
  const reads = [{ buffer: words, offset: 0, into }];
  await gpu.submit("test", (recorder) => recorder.dispatch(scan, bindings, params, 1), reads);
  for (const buffer of [words, tileSums]) gpu.memory.release(buffer);
  return Array.from(new Uint32Array(into.buffer));
}

it.each([
  ["one object", { total: 3 }, 3],
  ["the first of several", [{ total: 2 }, { total: 5 }], 2],
  ["the first that has a value", [{}, { total: undefined }, { total: 4 }, { total: 5, count: 1 }], 4],
  ["zeros that are told", [{ total: 0 }, { total: 5 }], 0],
  ["nothing", [], 0],
])("are those of %s", async (_, params, total) => {
  // a dispatch leaves nothing to the next one
  await scanned([{ total: 8 }]);
  expect(await scanned(params)).toEqual(Array.from(ONES, (one, i) => (i < total ? i : one)));
});
