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
import { type Gpus, settled } from "./gpus.js";
import { type HotHashes, hotHashes, isSkewed, type SampledSide } from "./hot-keys.js";
import { joinByOwners } from "./owners-join.js";
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

/** Bytes of a side of a join that goes to all GPUs, whatever the other side has. */
const BROADCAST_BYTES = 2 ** 24;
/**
 * The part of the other side's bytes, for each GPU, that it may have besides, where all goes in one round. As measured on
 * two H200 (bench/several-crossovers.mjs): of 512 MiB a fourth paid, and half did not.
 */
const BROADCAST_PART = 1 / 2;

/** Whether a side of a join goes to all GPUs, and the other one stays where it is. */
export function goesToAll(bytes: number, otherBytes: number, gpus: number, rounds: number): boolean {
  const part = rounds === 1 ? (otherBytes * BROADCAST_PART) / gpus : 0;
  return bytes <= Math.max(BROADCAST_BYTES, part);
}

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
  const [bytes, otherBytes] = sides.map(bytesOf);
  const { gpus, least } = host;
  const rounds = chunksFor(host, rows);
  const broadcasts =
    least.broadcast === undefined
      ? goesToAll(bytes, otherBytes, gpus.count, rounds)
      : bytes <= least.broadcast;
  const chunks = broadcasts ? 1 : rounds;
  const joined: JoinedOn[] = [];
  try {
    const isByOwners = !broadcasts && chunks === 1 && (await joinByOwners(host, left, right, call, joined));
    if (!isByOwners) await joinExchanged(host, parts, { sides, isTurned, broadcasts, chunks }, call, joined);
    call.onProgress?.(rows, rows);
    return await assembled(host, joined.splice(0), { left: left.columns, right: right.columns });
  } finally {
    for (const each of joined) giveUp(each);
  }
}

const giveUp = ({ left, right }: JoinedColumns) => destroyColumns([...left, ...right]);

interface Exchanging {
  /** The shorter one first. */
  readonly sides: readonly SharedSide[];
  /** The right one is the first. */
  readonly isTurned: boolean;
  /** The first one goes to all GPUs. */
  readonly broadcasts: boolean;
  readonly chunks: number;
}

/** Joins rows that are brought to GPUs, chunk by chunk. */
async function joinExchanged(
  host: SeveralHost,
  parts: readonly RowOperations[],
  { sides, isTurned, broadcasts, chunks }: Exchanging,
  call: RowCall,
  joined: JoinedOn[],
): Promise<void> {
  const rows = sides[0].keys.rows + sides[1].keys.rows;
  /** Streams by which the second side is sorted, and comes, while the first does, and is worked on. */
  const beside = broadcasts || chunks > 1 ? undefined : host.gpus.lane("there");
  let sorted: SortedBatch[] = [];
  /** The first side's rows, where they could go before the other side was sorted. */
  let ahead: SideThere | undefined;
  let moved = 0;
  const { signal, mostPairs, log } = call;
  const most = mostPairs ?? MAX_PAIRS;
  const sort = async (side: number, by: Gpus) => {
    const { keys, parts } = sides[side];
    sorted[side] = await sortedRows(host, keys.rows, parts, chunks, by);
  };
  const bring = (side: number, chunk: number, on: Gpus, arrival?: (owner: number) => void) => {
    const there = broadcasts
      ? RowsThere.placed(host, sides[side].keys.rows, side === 0 ? "everywhere" : "in place")
      : RowsThere.owned(sorted[side], chunk, on);
    return sideThere(parts, sides[side], there, arrival);
  };
  try {
    if (!broadcasts) {
      await sort(0, host.gpus);
      const goAhead = async () => {
        if (beside && !isSkewed(sorted[0].owned)) ahead = await bring(0, 0, host.gpus);
      };
      await settled([sort(1, beside ?? host.gpus), goAhead()]);
    }
    const isUneven = sorted.some(({ owned }) => isSkewed(owned));
    const hot = isUneven ? await hotOf(host, sides) : null;
    if (hot) {
      ahead?.release();
      ahead = undefined;
      sorted = await inOrder(sorted, (side) => sorted[side].split(hot[side]));
    }
    await inRounds(host.gpus, chunks, {
      async exchange(chunk, on) {
        signal?.throwIfAborted();
        const bringSecond = () => {
          if (!beside) return bring(1, chunk, on);
          // behind the first side, which takes the same way
          beside.after(on);
          return bring(1, chunk, beside, (owner) => on.context(owner).after(beside.context(owner)));
        };
        const first = ahead ?? (await bring(0, chunk, on));
        ahead = undefined;
        try {
          const second = await bringSecond();
          return {
            all: [first, second],
            release(isDone?: boolean) {
              for (const side of [first, second]) side.release(isDone);
            },
          };
        } catch (error) {
          first.release();
          throw error;
        }
      },
      async work({ all: [own, others] }) {
        const logged = loggedOf(
          parts.map((_, i) => Math.min(own.given[i].keys.rows, others.given[i].keys.rows)),
        );
        const made = await settled(
          parts.map((part, owner) => {
            const pair = [own.given[owner], others.given[owner]];
            const [left, right] = isTurned ? pair.reverse() : pair;
            return joinOn(part, left, right, { signal, mostPairs, ...(owner === logged && { log }) });
          }),
          giveUp,
        );
        joined.push(...made.map((each, gpu) => ({ ...each, gpu })));
        checkRows(joined, most);
        for (const { there } of [own, others]) moved += there.moved;
        return undefined;
      },
    });
    noteExchange(call, moved, rows, host.gpus, chunks);
    if (hot)
      log?.remark(
        `rows of ${hot[0].hashes.length} hot keys stayed, and those that match them went to all GPUs`,
      );
  } finally {
    ahead?.release();
    for (const each of sorted) each?.release();
  }
}

type SideThere = Awaited<ReturnType<typeof sideThere>>;

/** A side's rows on the GPUs that join them. @param arrival of a side on its way, by owner: as JoinedSide says */
function sideThere(
  parts: readonly RowOperations[],
  { keys, columns }: SharedSide,
  there: RowsThere,
  arrival?: (owner: number) => void,
) {
  // arrays are delivered one after another: each takes the way between all GPUs
  return roundOf(there, () =>
    inOrder(
      parts,
      async (owner): Promise<JoinedSide> => ({
        keys: await there.keys(owner, keys),
        columns: await there.columns(owner, columns),
        ...(arrival && { arrival: () => arrival(owner) }),
      }),
    ),
  );
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

export type JoinedOn = JoinedColumns & { readonly gpu: number };

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
