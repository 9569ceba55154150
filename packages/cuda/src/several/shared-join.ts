/**
 * Inner joins of tables on several GPUs: rows go to the owners of their keys, with the columns that are asked for, or a
 * small side goes to all; each GPU joins what it has.
 */
import {
  DeviceArray,
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  type JoinedColumns,
  type JoinedSide,
  LimitError,
  MAX_PAIRS,
  type RowOperations,
  type Words,
} from "warpmap/engine";
import { settled } from "./gpus.js";
import { type HotHashes, hotHashes, isSkewed, type SampledSide } from "./hot-keys.js";
import { arrayOf, arrayOn } from "./pieces.js";
import type { SeveralHost } from "./results.js";
import { inRounds } from "./rounds.js";
import {
  chunksFor,
  inOrder,
  keyPartsOf,
  loggedOf,
  noteExchange,
  type RowCall,
  RowsThere,
  roundOf,
  sharedColumn,
  sortedRows,
  type WordColumn,
} from "./rows-there.js";
import { sampledRows } from "./sample.js";
import type { KeyPart, SortedBatch } from "./sorted-batch.js";

/**
 * Bytes of a side of a join that goes to all GPUs, at most: the other side stays where it is. An estimate, not measured
 * on several GPUs.
 */
const BROADCAST_BYTES = 2 ** 24;

export interface SharedSide {
  readonly keys: DeviceKeys;
  readonly parts: readonly KeyPart[];
  readonly columns: readonly WordColumn[];
}

export function sharedSide({ keys, columns }: JoinedSide): SharedSide | null {
  const parts = keyPartsOf(keys);
  const shared = columns.map(sharedColumn);
  return parts && shared.every((column) => column !== null) ? { keys, parts, columns: shared } : null;
}

/**
 * An inner join: rows come in the order of the GPUs. A small side goes to all of them, and the other one stays; else both
 * go to the owners of their keys, but for rows of hot keys (hot-keys.ts).
 */
export async function joinShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  [left, right]: readonly SharedSide[],
  call: RowCall,
): Promise<JoinedColumns> {
  const rows = left.keys.rows + right.keys.rows;
  // the shorter one first: rows of the other look theirs up in it
  const isTurned = right.keys.rows <= left.keys.rows;
  const sides = isTurned ? [right, left] : [left, right];
  const [small] = sides;
  const broadcasts = bytesOf(small) <= (host.least.broadcast ?? BROADCAST_BYTES);
  const chunks = broadcasts ? 1 : chunksFor(host, rows);
  let sorted: SortedBatch[] = [];
  const joined: JoinedOn[] = [];
  let moved = 0;
  const { signal, mostPairs, log } = call;
  const most = mostPairs ?? MAX_PAIRS;
  const giveUp = ({ left, right }: JoinedColumns) => destroyColumns([...left, ...right]);
  try {
    if (!broadcasts)
      sorted = await settled(
        sides.map(({ keys, parts }) => sortedRows(host, keys.rows, parts, chunks)),
        (batch) => batch.release(),
      );
    const isUneven = sorted.some(({ owned }) => isSkewed(owned));
    const hot = isUneven ? await hotOf(host, sides) : null;
    if (hot) sorted = await inOrder(sorted, (side) => sorted[side].split(hot[side]));
    await inRounds(host.gpus, chunks, {
      exchange(chunk, on) {
        signal?.throwIfAborted();
        const placed = (side: SharedSide) =>
          RowsThere.placed(host, side.keys.rows, side === small ? "everywhere" : "in place");
        // a side that nothing else goes beside comes while GPUs work on the other
        const late = broadcasts || chunks > 1 ? undefined : host.gpus.lane("there");
        const streams = sides.map((_, i) => (i > 0 && late) || on);
        const there = broadcasts
          ? sides.map(placed)
          : sorted.map((side, i) => RowsThere.owned(side, chunk, streams[i]));
        return roundOf(there, async () => {
          const given: JoinedSide[][] = [];
          for (const [i, { keys, columns }] of sides.entries()) {
            if (streams[i] !== on) streams[i].after(on);
            // arrays are delivered one after another: each takes the way between all GPUs
            given[i] = await inOrder(parts, async (owner) => ({
              keys: await there[i].keys(owner, keys),
              columns: await there[i].columns(owner, columns),
              ...(streams[i] !== on && { arrival: () => on.context(owner).after(streams[i].context(owner)) }),
            }));
          }
          return given;
        });
      },
      async work({ there, given }) {
        const logged = loggedOf(parts.map((_, owner) => Math.min(...given.map((side) => side[owner].keys.rows))));
        const all = await settled(
          parts.map((part, owner) => {
            const [own, others] = given.map((side) => side[owner]);
            const [left, right] = isTurned ? [others, own] : [own, others];
            return joinOn(part, left, right, { signal, mostPairs, ...(owner === logged && { log }) });
          }),
          giveUp,
        );
        joined.push(...all.map((each, gpu) => ({ ...each, gpu })));
        checkRows(joined, most);
        for (const side of there) moved += side.moved;
        return undefined;
      },
    });
    noteExchange(call, moved, rows, host.gpus, chunks);
    if (hot)
      log?.remark(
        `rows of ${hot[0].hashes.length} hot keys stayed, and those that match them went to all GPUs`,
      );
    call.onProgress?.(rows, rows);
    const asked = { left: left.columns, right: right.columns };
    return await assembled(host, joined.splice(0), asked);
  } finally {
    for (const each of joined) giveUp(each);
    for (const each of sorted) each.release();
  }
}

function bytesOf({ keys, parts, columns }: SharedSide): number {
  const words = parts.reduce((sum, { each = 1 }) => sum + each, 0);
  return keys.rows * columns.reduce((sum, { values }) => sum + values.width, 4 * words);
}

/** The hot keys of two sides; null without any. */
async function hotOf(host: SeveralHost, sides: readonly SharedSide[]): Promise<HotHashes[] | null> {
  const all: SampledSide[] = [];
  for (const { keys, parts } of sides)
    all.push({ rows: keys.rows, sample: await sampledRows(host, keys.rows, parts) });
  return hotHashes(all, host.gpus.count);
}

type JoinedOn = JoinedColumns & { readonly gpu: number };

const rowsOf = (all: readonly JoinedOn[]) => all.reduce((sum, { rows }) => sum + rows, 0);

/** @throws LimitError when there are too many rows, be there more to come or not */
function checkRows(joined: readonly JoinedOn[], most: number): void {
  const rows = rowsOf(joined);
  if (rows > most)
    throw new LimitError("rows", rows, most, "Join on more columns, or filter one side first.");
}

async function joinOn(
  part: RowOperations,
  left: JoinedSide,
  right: JoinedSide,
  call: RowCall,
): Promise<JoinedColumns> {
  if (left.keys.rows === 0 || right.keys.rows === 0) return { rows: 0, left: [], right: [] };
  const joined = await part.joinColumns?.(left, right, call);
  if (joined) return joined;
  for (const { arrival } of [left, right]) arrival?.();
  const matches = await part.match(left.keys, right.keys, "inner", { ...call, nullsEqual: false });
  const made: DeviceColumn[][] = [];
  try {
    const { left: ofLeft, right: ofRight } = matches;
    made.push(await part.gatherColumns(left.columns, ofLeft, false, call));
    made.push(await part.gatherColumns(right.columns, ofRight as Words, false, call));
    return { rows: ofLeft.length, left: made[0], right: made[1] };
  } catch (error) {
    for (const columns of made) destroyColumns(columns);
    throw error;
  } finally {
    matches.left.destroy();
    matches.right?.destroy();
  }
}

/** The rows of all GPUs as one table, in the order of the GPUs: columns lie where they were made. */
async function assembled(
  host: SeveralHost,
  all: readonly JoinedOn[],
  sides: { readonly left: readonly WordColumn[]; readonly right: readonly WordColumn[] },
): Promise<JoinedColumns> {
  const rows = rowsOf(all);
  for (const { left, right } of all.filter((joined) => joined.rows === 0))
    destroyColumns([...left, ...right]);
  // what comes next finds most rows on the GPU that works on them
  const filled = all.filter((joined) => joined.rows > 0).sort((a, b) => a.gpu - b.gpu);
  // columns may share an array, which is to be freed once
  const views = new Map<Words, Words>();
  const viewOf = (data: Words, length: number): Words => {
    const view = views.get(data) ?? firstElements(data, length);
    views.set(data, view);
    return view;
  };
  const columnsOf = (which: "left" | "right") =>
    Promise.all(
      sides[which].map(async ({ values }, c): Promise<DeviceColumn> => {
        let first = 0;
        const pieces = filled.map((joined) => {
          const { data } = (joined[which][c] as WordColumn).values;
          const length = (joined.rows * values.width) / 4;
          first += length;
          return { gpu: joined.gpu, first: first - length, array: viewOf(data, length) };
        });
        const none = async () => arrayOn(host.engine, 0, await host.gpus.hosts[0].engine.allocate("u32", 0));
        const data = pieces.length > 0 ? arrayOf(host.engine, "u32", pieces) : await none();
        return { values: { ...values, data }, validity: null };
      }),
    );
  return { rows, left: await columnsOf("left"), right: await columnsOf("right") };
}

/** The first elements of an array, which it takes over: results may have room behind them. */
function firstElements(array: Words, length: number): Words {
  return DeviceArray.of(array.engine, "u32", length, array.storage);
}
