/**
 * Row operations on several GPUs: large joins and groups of tables on the device are shared. Rows with nulls or strings,
 * small tables, and all other operations are the first GPU's.
 */
import type { DeviceKeys, ReduceCall, Reduction, RowOperations } from "warpmap/engine";
import type { SeveralHost } from "./results.js";
import { keyPartsOf } from "./rows-there.js";
import { distinctShared, reduceShared } from "./shared-groups.js";
import { joinShared, type SharedSide, sharedSide } from "./shared-join.js";

/**
 * Rows below which one GPU has them all: of both sides of a join, and of a table. As measured on two H200
 * (bench/several-crossovers.mjs).
 */
const SHARED_ROWS = { joined: 2 ** 21, grouped: 2 ** 24, distinct: 2 ** 26 } as const;

/**
 * @param first the operations of the first GPU, for callers of all
 * @param parts those of each GPU
 */
export function severalRows(
  host: SeveralHost,
  first: RowOperations,
  parts: readonly RowOperations[],
): RowOperations {
  const isLarge = (rows: number, what: keyof typeof SHARED_ROWS) =>
    rows >= (host.least.rows ?? SHARED_ROWS[what]);
  const joinColumns: RowOperations["joinColumns"] = async (left, right, call) => {
    const [rows, others] = [left.keys.rows, right.keys.rows];
    const isShared = isLarge(rows + others, "joined") && rows * others > 0;
    const sides = isShared ? [left, right].map(sharedSide) : [];
    if (sides.length === 2 && sides.every((side) => side !== null)) {
      return joinShared(host, parts, sides as SharedSide[], call);
    }
    return (await first.joinColumns?.(left, right, call)) ?? null;
  };
  const { reducer } = first;
  const reduce = async (keys: DeviceKeys, reductions: readonly Reduction[], call: ReduceCall) => {
    const isShared = isLarge(keys.rows, "grouped") && !call.numbered;
    const grouped = isShared ? await reduceShared(host, parts, keys, reductions, call) : null;
    return grouped ?? (reducer as NonNullable<typeof reducer>).reduce(keys, reductions, call);
  };
  const distinctRows: RowOperations["distinctRows"] = async (keys, keep, call) => {
    const keyParts = isLarge(keys.rows, "distinct") ? keyPartsOf(keys) : null;
    return keyParts
      ? distinctShared(host, parts, keys, keyParts, keep, call)
      : first.distinctRows(keys, keep, call);
  };
  return Object.create(first, {
    joinColumns: { value: joinColumns },
    distinctRows: { value: distinctRows },
    reducer: { value: reducer && { takes: reducer.takes, reduce } },
  });
}
