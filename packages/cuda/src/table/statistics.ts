/** stats(): goes over all slots of a table. */
import {
  asBytes,
  EMPTY,
  homeSlot,
  PROBE_HISTOGRAM,
  readBytes,
  Scratch,
  type TableStats,
  TOMBSTONE,
} from "warpmap/engine";
import { hashKeys } from "./own-hashes.js";
import type { TableState } from "./table-state.js";

/** Words before the histogram: live, tombstones, longest, unused, sum (64 bits). */
const HEADER_WORDS = 6;
const BYTES = (HEADER_WORDS + PROBE_HISTOGRAM) * 4;

export async function statistics(state: TableState): Promise<TableStats> {
  const { host, spec } = state;
  if (typeof spec.hash !== "string") return ofOwnHashes(state);
  const scratch = new Scratch(host.gpu);
  try {
    const histogram = { buffer: await scratch.buffer(BYTES), size: BYTES };
    const into = new Uint8Array(BYTES);
    const run = state.runs("statistics", { histogram }, {}, state.scanBlocks);
    await host.gpu.submit(
      "stats",
      (recorder) => {
        recorder.clear(histogram.buffer, 0, BYTES);
        run(recorder);
      },
      [{ buffer: histogram.buffer, offset: 0, into }],
    );
    const [live, tombstones, longest, , sumLow, sumHigh, ...probeLengths] = new Uint32Array(into.buffer);
    return summary(live, tombstones, longest, sumHigh * 2 ** 32 + sumLow, Float64Array.from(probeLengths));
  } finally {
    scratch.release();
  }
}

function summary(
  live: number,
  tombstones: number,
  maxProbeLength: number,
  sum: number,
  probeLengths: Float64Array,
): TableStats {
  return { live, tombstones, maxProbeLength, meanProbeLength: live === 0 ? 0 : sum / live, probeLengths };
}

/** The same where the hash function is JavaScript: the slots come to the host. */
async function ofOwnHashes(state: TableState): Promise<TableStats> {
  const { host, spec, format, live, tombstones } = state;
  const { slotWords, keyOffset, keyWords, markWords } = format;
  const slots = new Uint32Array(spec.slots * slotWords);
  await readBytes(host.gpu, "stats", { buffer: state.slots, offset: 0, into: asBytes(slots) });
  const probeLengths = new Float64Array(PROBE_HISTOGRAM);
  let [longest, sum] = [0, 0];
  const note = (length: number) => {
    longest = Math.max(longest, length);
    sum += length;
    probeLengths[Math.min(length, PROBE_HISTOGRAM) - 1]++;
  };
  let entries = 0;
  for (let slot = 0; slot < spec.slots; slot++) {
    const first = slot * slotWords;
    if (isUnused(slots, first, markWords)) continue;
    entries++;
    const key = slots.slice(first + keyOffset, first + keyOffset + keyWords);
    note(((slot - homeSlot(hashKeys(spec, key)[0], spec.slots) + spec.slots) % spec.slots) + 1);
  }
  // entries of side slots
  for (; entries < live; entries++) note(1);
  return summary(live, tombstones, longest, sum, probeLengths);
}

/** Whether the words that mark a slot, one or two of them, say that it holds nothing. */
function isUnused(slots: Uint32Array, first: number, words: number): boolean {
  const isHigh = words === 1 || slots[first + 1] === EMPTY;
  return isHigh && (slots[first] === EMPTY || slots[first] === TOMBSTONE);
}
