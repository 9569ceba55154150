/**
 * Groups of each GPU's rows where they are: instead of rows, a row for each group of each GPU goes to its owner. So less is
 * exchanged where groups are few, and rows of a key that very many have are the work of all GPUs. Not for means and sums of
 * floats: sums of parts are rounded.
 */
import {
  type DeviceKeys,
  destroyColumns,
  type ReduceCall,
  type ReducedGroups,
  type Reduction,
  type RowOperations,
} from "warpmap/engine";
import { startsOf } from "./exchange.js";
import { settled } from "./gpus.js";
import { rangeOf } from "./inputs.js";
import { arrayOf } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { RowsThere, sharedColumn, type WordColumn } from "./rows-there.js";

// Estimates, not measured on several GPUs.
/** Rows of a GPU for each of its groups, from which on it groups them first. */
const LEAST_ROWS = 4;
/** Groups that a sample has twice, from which on it tells how many there are. */
const LEAST_TWICE = 4;

/**
 * Whether a GPU's rows have few groups, by hashes of some: those of the sample, and others, which no more rows than
 * seldom ones are of, and which are likely not much more than what A. Chao estimates ("Nonparametric estimation of the
 * number of classes in a population", 1984).
 */
export function areFew(sample: Uint32Array, rows: number): boolean {
  const sorted = sample.slice().sort();
  let [groups, once, twice] = [0, 0, 0];
  for (let first = 0, end = 1; first < sorted.length; first = end++) {
    while (sorted[end] === sorted[first]) end++;
    groups++;
    if (end - first === 1) once++;
    if (end - first === 2) twice++;
  }
  const seldom = (rows * once) / sample.length;
  const others = twice < LEAST_TWICE ? seldom : Math.min(seldom, (once * once) / (2 * twice));
  return groups + others <= rows / LEAST_ROWS;
}

/** What makes a reduction of all of that of parts, and the bytes of a value; null where nothing does. */
export function reducedAgain(reduction: Reduction): { reduction: Reduction; width?: number } | null {
  const { kind, column } = reduction;
  if (kind === "count") return { reduction: { kind: "sum", form: "signed" } as Reduction, width: 8 };
  if (kind === "sum") {
    const isSmall = column.values?.kind === "fixed" && column.values.width === 4;
    return isSmall && reduction.form !== "float" && !reduction.isDecimal ? { reduction, width: 8 } : null;
  }
  return kind === "mean" ? null : { reduction };
}

/** Groups that a GPU has. */
export interface GroupsOf extends Pick<ReducedGroups, "groups" | "columns"> {
  readonly gpu: number;
}

/** A table of the groups of each GPU, one GPU's behind the other's, and so in the order of their first rows. */
interface LocalGroups {
  readonly keys: DeviceKeys;
  readonly reductions: readonly Reduction[];
  readonly widths: readonly (number | undefined)[];
  release(): void;
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

/** A column of all groups, one GPU's behind the other's. */
export function collectedColumn(
  { gpus, engine }: SeveralHost,
  all: readonly GroupsOf[],
  c: number,
): WordColumn {
  const { values } = all[0].columns[c] as WordColumn;
  const words = values.width / 4;
  const starts = startsOf(all.map(({ groups }) => groups));
  const pieces = all.map(({ gpu, columns, groups }, i) => {
    const range = rangeOf((columns[c] as WordColumn).values.data);
    return { gpu, first: starts[i] * words, array: gpus.view(gpu, "u32", groups * words, range) };
  });
  return { values: { ...values, data: arrayOf(engine, "u32", pieces) }, validity: null };
}

/** Groups rows, whose columns are shared, where they are: so all results are words without nulls. */
export async function groupLocally(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  { signal, log }: ReduceCall,
): Promise<LocalGroups> {
  const rows = RowsThere.placed(host, keys.rows, "in place");
  const made: GroupsOf[] = [];
  const release = () => {
    for (const each of made) destroyColumns(each?.columns ?? []);
  };
  try {
    const owners = [...parts.keys()].filter((gpu) => rows.counts[gpu] > 0);
    await settled(
      owners.map(async (gpu, i) => {
        const own = await rows.keys(gpu, keys);
        const asked = await reductionsAt(rows, gpu, reductions);
        for (const key of own.columns) {
          const { width, data } = key as { width: number; data: WordColumn["values"]["data"] };
          const values = { kind: "fixed", width: 4 * width, data } as const;
          asked.push({ kind: "first", column: { values, validity: null } });
        }
        const reducer = parts[gpu].reducer as NonNullable<RowOperations["reducer"]>;
        const options = { signal, lists: false, ...(i === 0 && { log }) };
        made[i] = { ...(await reducer.reduce(own, asked, options)), gpu };
      }),
    );
    const collected = (c: number) => collectedColumn(host, made, c);
    const again = reductions.map((reduction) => reducedAgain(reduction));
    return {
      keys: {
        rows: made.reduce((sum, { groups }) => sum + groups, 0),
        columns: keys.columns.map((key, k) => {
          const { values } = collected(reductions.length + k);
          const below = "below" in key ? { below: key.below as number } : {};
          return {
            kind: "device words",
            width: values.width / 4,
            data: values.data,
            validity: null,
            ...below,
          };
        }),
      },
      reductions: again.map((each, c) => ({ ...each?.reduction, column: collected(c) }) as Reduction),
      widths: again.map((each) => each?.width),
      release,
    };
  } catch (error) {
    release();
    throw error;
  } finally {
    rows.release();
  }
}
