/**
 * Groups of each GPU's rows where they are, which merge-groups.ts makes groups of all rows of. So less is exchanged where
 * groups are few, and rows of a key that very many have are the work of all GPUs.
 */
import {
  type DeviceKeys,
  destroyColumns,
  type ReduceCall,
  type Reduction,
  type RowOperations,
} from "warpmap/engine";
import { settled } from "./gpus.js";
import type { GroupsOf } from "./groups-of.js";
import type { SeveralHost } from "./results.js";
import { keyPartsOf, RowsThere, sharedColumn, type WordColumn } from "./rows-there.js";
import { sampledRows } from "./sample.js";
import type { KeyPart } from "./sorted-batch.js";

/**
 * Rows of a GPU for each group, from which on it groups them first: one GPU merges the groups of all. As measured on two
 * H200 (bench/several-crossovers.mjs).
 */
const LEAST_ROWS = 8;
/** Groups that a sample has twice, from which on it tells how many there are: an estimate. */
const LEAST_TWICE = 4;

/**
 * Rows of a GPU from which it surveys keys of one word itself, before it moves rows: number-keys.ts. A sample would be
 * waited for.
 */
const SURVEYED = 2 ** 22;

/** What ends a GPU's work on too many groups. */
const manyGroups = new Error("groups are many");

/** Whether so many rows have few groups, so that GPUs make them of their own rows first. */
const isFew = (groups: number, rows: number, least: number) => groups * least <= rows;

/**
 * Whether a GPU's rows have few groups, by hashes of some: those of the sample, and others, which no more rows than
 * seldom ones are of, and which are likely not much more than what A. Chao estimates ("Nonparametric estimation of the
 * number of classes in a population", 1984).
 */
export function areFew(sample: Uint32Array, rows: number, least = LEAST_ROWS): boolean {
  const { groups, once, twice } = timesSeen(sample);
  const seldom = (rows * once) / sample.length;
  const others = twice < LEAST_TWICE ? seldom : Math.min(seldom, (once * once) / (2 * twice));
  return isFew(groups + others, rows, least);
}

/** How many hashes a sample has, and how many of them once and twice: a table of them is faster than sorting. */
function timesSeen(sample: Uint32Array): { groups: number; once: number; twice: number } {
  const slotBits = Math.ceil(Math.log2(Math.max(2, 2 * sample.length)));
  const [slots, counts] = [new Uint32Array(2 ** slotBits), new Uint32Array(2 ** slotBits)];
  let [groups, once, twice] = [0, 0, 0];
  // by number: iterators take several times as long
  for (let i = 0; i < sample.length; i++) {
    const hash = sample[i];
    let slot = Math.imul(hash, 0x9e3779b1) >>> (32 - slotBits);
    while (counts[slot] > 0 && slots[slot] !== hash) slot = (slot + 1) % slots.length;
    slots[slot] = hash;
    const times = ++counts[slot];
    groups += Number(times === 1);
    once += Number(times === 1) - Number(times === 2);
    twice += Number(times === 2) - Number(times === 3);
  }
  return { groups, once, twice };
}

/** What is asked of a GPU's groups: reductions of its rows, whose columns are shared. */
export async function reductionsAt(
  rows: RowsThere,
  gpu: number,
  reductions: readonly Reduction[],
): Promise<Reduction[]> {
  const made: Reduction[] = [];
  for (const reduction of reductions) {
    const shared = reduction.column && sharedColumn(reduction.column);
    const [column = null] = shared ? await rows.columns(gpu, [shared]) : [];
    made.push({ ...reduction, column } as Reduction);
  }
  return made;
}

/**
 * Groups rows, whose columns are shared, where they are: so all results are words without nulls. The columns of the keys
 * come behind those of the reductions. Who gets the groups frees their columns. Null where groups are not few: large
 * pieces are surveyed by their GPUs, of others a sample tells.
 */
export async function groupLocally(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  { signal, log }: ReduceCall,
): Promise<GroupsOf[] | null> {
  const keyParts = keyPartsOf(keys) as KeyPart[];
  const each = keys.rows / host.gpus.count;
  const least = host.least.ofGroup ?? LEAST_ROWS;
  const isSurveyed =
    each >= (host.least.surveyed ?? SURVEYED) && keyParts.length === 1 && keyParts[0].each === 1;
  if (!isSurveyed && !areFew(await sampledRows(host, keys.rows, keyParts), each, least)) return null;
  const onSurvey = (groups: number) => {
    if (!isFew(groups, each, least)) throw manyGroups;
  };
  const rows = RowsThere.placed(host, keys.rows, "in place");
  const owners = [...parts.keys()].filter((gpu) => rows.counts[gpu] > 0);
  try {
    return await settled(
      owners.map(async (gpu, i) => {
        const own = await rows.keys(gpu, keys);
        const asked = await reductionsAt(rows, gpu, reductions);
        for (const key of own.columns) {
          const { width, data } = key as { width: number; data: WordColumn["values"]["data"] };
          const values = { kind: "fixed", width: 4 * width, data } as const;
          asked.push({ kind: "first", column: { values, validity: null } });
        }
        const reducer = parts[gpu].reducer as NonNullable<RowOperations["reducer"]>;
        const options = { signal, lists: false, onSurvey, ...(i === 0 && { log }) };
        return { ...(await reducer.reduce(own, asked, options)), gpu };
      }),
      ({ columns }) => destroyColumns(columns),
    );
  } catch (error) {
    if (error === manyGroups) return null;
    throw error;
  } finally {
    rows.release();
  }
}
