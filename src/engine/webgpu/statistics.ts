/** The result of kernels/stats.wgsl as the host sees it. */
import { PROBE_HISTOGRAM, type TableStats } from "../engine.js";

const HEADER_WORDS = 5;
/** Bytes of the Statistics struct. */
export const STATISTICS_BYTES = (HEADER_WORDS + PROBE_HISTOGRAM) * 4;

/** Reads the struct's words: live, tombstones, longest, sum (64 bits), histogram. */
export function readStatistics(bytes: Uint8Array): TableStats {
  const words = new Uint32Array(bytes.buffer, bytes.byteOffset, HEADER_WORDS + PROBE_HISTOGRAM);
  const [live, tombstones, maxProbeLength, sumLow, sumHigh] = words;
  const sum = sumHigh * 2 ** 32 + sumLow;
  return {
    live,
    tombstones,
    maxProbeLength,
    meanProbeLength: live === 0 ? 0 : sum / live,
    probeLengths: words.slice(HEADER_WORDS),
  };
}
