/** stats(): goes over all slots of a table. Loaded by the first call, which few programs make. */
import { PROBE_HISTOGRAM, type TableStats } from "../../engine.js";
import { Scratch } from "../../gpu/batch/columns.js";
import { kernelSource, readWrite } from "../../gpu/kernel-source.js";
import type { Recorder } from "../../gpu/runtime.js";
import { wgsl } from "../device/module-code.js";
import { tableParams } from "../direct/direct-kernels.js";
import type { TableState } from "../table/table-state.js";
import statsCode from "./stats.wgsl";

/** Workgroups of the kernel, which strides over the slots. */
const WORKGROUPS = 4096;
const HEADER_WORDS = 5;
/** Bytes of the Statistics struct. */
const STATISTICS_BYTES = (HEADER_WORDS + PROBE_HISTOGRAM) * 4;

export async function stats(state: TableState): Promise<TableStats> {
  const { host, spec, windows } = state;
  const source = state.sources.once("stats", () =>
    kernelSource("stats", tableParams, [
      ...state.sources.scanning,
      wgsl(statsCode, { bindings: { statistics: readWrite("Statistics") } }),
    ]),
  );
  const kernel = await host.gpu.compile(source, {});
  const scratch = new Scratch(host.gpu);
  try {
    const buffer = await scratch.buffer(STATISTICS_BYTES);
    const range = { buffer, offset: 0, size: STATISTICS_BYTES };
    const into = new Uint8Array(STATISTICS_BYTES);
    const record = (recorder: Recorder) => {
      recorder.clear(buffer, 0, STATISTICS_BYTES);
      for (const window of windows) {
        const { first: windowFirst, slots: count } = window;
        const bindings = { table: window.range, statistics: range };
        const params = { slots: spec.slots, seed: spec.seed, count, windowFirst };
        recorder.dispatch(kernel, bindings, params, Math.min(WORKGROUPS, Math.ceil(count / 256)));
      }
    };
    await host.gpu.submit("stats", record, [{ buffer, offset: 0, into }]);
    return readStatistics(into);
  } finally {
    scratch.release();
  }
}

/** Reads the struct's words: live, tombstones, longest, sum (64 bits), histogram. */
function readStatistics(bytes: Uint8Array): TableStats {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, HEADER_WORDS + PROBE_HISTOGRAM);
  const [live, tombstones, maxProbeLength, sumLow, sumHigh] = words;
  const sum = sumHigh * 2 ** 32 + sumLow;
  return {
    live,
    tombstones,
    maxProbeLength,
    meanProbeLength: live === 0 ? 0 : sum / live,
    probeLengths: Float64Array.from(words.subarray(HEADER_WORDS)),
  };
}
