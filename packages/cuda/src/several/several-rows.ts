/**
 * Joins and group-bys of tables on several GPUs: rows go to the owners of their keys, with the columns that are asked
 * for, and each GPU joins or groups its own. Rows with nulls or strings, small tables, and all other row operations are
 * the first GPU's.
 */
import {
  DeviceArray,
  type DeviceColumn,
  type DeviceKeys,
  destroyColumns,
  gpuArray,
  type JoinedColumns,
  type JoinedSide,
  type Keep,
  LimitError,
  MAX_PAIRS,
  newArray,
  type Range,
  type ReduceCall,
  type ReducedGroups,
  type Reduction,
  type RowOperations,
  Scratch,
  type Words,
} from "warpmap/engine";
import { blocksFor } from "../table/table-state.js";
import { arrayAt, Exchange, inputOn, type KeyPart, rangeOf } from "./exchange.js";
import { settled } from "./gpus.js";
import { ownerKernels } from "./owner-kernels.js";
import { arrayOf, arrayOn, spansOf } from "./pieces.js";
import { borrowed, type SeveralHost } from "./results.js";

/** Rows of both sides, or of a table to group, below which one GPU has them all. */
const SHARED_ROWS = 2 ** 22;
/** Bytes of a side of a join that goes to all GPUs, at most: the other side stays where it is. */
const BROADCAST_BYTES = 2 ** 24;

type RowCall = Omit<Parameters<NonNullable<RowOperations["joinColumns"]>>[2], "nullsEqual">;
/** Columns of words, without nulls: those that go to other GPUs. */
type WordColumn = DeviceColumn & {
  readonly values: { readonly kind: "fixed"; readonly width: number; readonly data: Words };
};

/**
 * @param first the operations of the first GPU, for callers of all
 * @param parts those of each GPU
 */
export function severalRows(
  host: SeveralHost,
  first: RowOperations,
  parts: readonly RowOperations[],
): RowOperations {
  const least = host.least.rows ?? SHARED_ROWS;
  const joinColumns: RowOperations["joinColumns"] = async (left, right, call) => {
    const isLarge = left.keys.rows + right.keys.rows >= least && left.keys.rows * right.keys.rows > 0;
    const sides = isLarge ? [left, right].map(sharedSide) : [];
    if (sides.length === 2 && sides.every((side) => side !== null)) {
      return joinShared(host, parts, sides as SharedSide[], call);
    }
    return (await first.joinColumns?.(left, right, call)) ?? null;
  };
  const { reducer } = first;
  const reduce = async (keys: DeviceKeys, reductions: readonly Reduction[], call: ReduceCall) => {
    const isShared = keys.rows >= least && !call.numbered;
    const grouped = isShared ? await reduceShared(host, parts, keys, reductions, call) : null;
    return grouped ?? (reducer as NonNullable<typeof reducer>).reduce(keys, reductions, call);
  };
  const distinctRows: RowOperations["distinctRows"] = async (keys, keep, call) => {
    const keyParts = keys.rows >= least ? keyPartsOf(keys) : null;
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

/** The words of keys, as what decides who owns a row; null where they are not words, or may be null. */
function keyPartsOf({ columns }: DeviceKeys): KeyPart[] | null {
  const parts: KeyPart[] = [];
  for (const column of columns) {
    const isWords = column.kind === "device words" || column.kind === "words";
    if (!isWords || column.validity !== null) return null;
    parts.push({ column: column.data, type: "u32", each: column.width });
  }
  return parts;
}

/** Groups that a GPU has. */
interface GroupsOf extends ReducedGroups {
  readonly gpu: number;
}

/** A column that goes to other GPUs; null for one that does not. */
function sharedColumn(column: DeviceColumn): WordColumn | null {
  const { values, validity } = column;
  const isShared = values?.kind === "fixed" && values.width % 4 === 0 && validity === null;
  return isShared ? (column as WordColumn) : null;
}

interface SharedSide {
  readonly keys: DeviceKeys;
  readonly parts: readonly KeyPart[];
  readonly columns: readonly WordColumn[];
}

function sharedSide({ keys, columns }: JoinedSide): SharedSide | null {
  const parts = keyPartsOf(keys);
  const shared = columns.map(sharedColumn);
  return parts && shared.every((column) => column !== null) ? { keys, parts, columns: shared } : null;
}

/** Rows on the GPUs that work on them: what was given as one array is one there. */
class RowsThere {
  readonly #arrays = new Map<unknown, Promise<readonly Words[]>>();

  private constructor(
    /** Rows of each GPU. */
    readonly counts: readonly number[],
    /** Rows that are on another GPU now than before, or on all. */
    readonly moved: number,
    private readonly bring: (data: Words | Uint32Array, words: number) => Promise<readonly Words[]>,
    /** The numbers of each GPU's rows. */
    readonly numbers: () => Promise<readonly Words[]>,
    readonly release: () => void,
  ) {}

  /** By the owners of their keys. */
  static async owned(
    { gpus, seed }: SeveralHost,
    rows: number,
    keys: readonly KeyPart[],
  ): Promise<RowsThere> {
    const exchange = await Exchange.of(gpus, spansOf(rows, 4, gpus.count, 0), keys, seed);
    const { counts, moved } = exchange;
    const bring = (data: Words | Uint32Array, words: number) => exchange.deliver("u32", data, words);
    return new RowsThere(
      counts,
      moved,
      bring,
      () => exchange.numbers(),
      () => exchange.release(),
    );
  }

  /** All on each GPU, or each GPU's where they are. */
  static placed(host: SeveralHost, rows: number, where: "everywhere" | "in place"): RowsThere {
    const { gpus } = host;
    const spans = gpus.hosts.map((_, gpu) => ({ gpu, first: 0, count: where === "everywhere" ? rows : 0 }));
    if (where === "in place") for (const span of spansOf(rows, 4, gpus.count, 0)) spans[span.gpu] = span;
    const scratch = gpus.hosts.map(({ gpu }) => new Scratch(gpu));
    const bring = (data: Words | Uint32Array, words: number) =>
      settled(
        spans.map(({ gpu, first, count }) =>
          arrayAt(gpus, scratch[gpu], "u32", data, { gpu, first: first * words, count: count * words }),
        ),
      );
    const counts = spans.map(({ count }) => count);
    const moved = where === "everywhere" ? rows : 0;
    const numbers = () => Promise.reject(new Error("only rows at their owners have numbers"));
    return new RowsThere(counts, moved, bring, numbers, () => gpus.release(scratch));
  }

  async #at(owner: number, data: Words | Uint32Array, words: number): Promise<Words> {
    let all = this.#arrays.get(data);
    if (!all) {
      all = this.bring(data, words);
      this.#arrays.set(data, all);
    }
    return (await all)[owner];
  }

  async keys(owner: number, { columns }: DeviceKeys): Promise<DeviceKeys> {
    const there: DeviceKeys["columns"][number][] = [];
    for (const column of columns) {
      if (!("width" in column)) continue;
      const data = await this.#at(owner, column.data, column.width);
      const below = "below" in column ? { below: column.below as number } : {};
      there.push({ kind: "device words", width: column.width, data, validity: null, ...below });
    }
    return { rows: this.counts[owner], columns: there };
  }

  async columns(owner: number, columns: readonly WordColumn[]): Promise<DeviceColumn[]> {
    const there: DeviceColumn[] = [];
    for (const { values } of columns) {
      const data = await this.#at(owner, values.data, values.width / 4);
      there.push({ values: { ...values, data }, validity: null });
    }
    return there;
  }
}

/**
 * An inner join: rows come in the order of the GPUs. A small side goes to all of them, and the other one stays; else both
 * go to the owners of their keys.
 */
async function joinShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  [left, right]: readonly SharedSide[],
  call: RowCall,
): Promise<JoinedColumns> {
  const made: RowsThere[] = [];
  const rows = left.keys.rows + right.keys.rows;
  const small = left.keys.rows < right.keys.rows ? left : right;
  const broadcasts = bytesOf(small) <= (host.least.broadcast ?? BROADCAST_BYTES);
  try {
    for (const side of [left, right]) {
      const { rows } = side.keys;
      const where = side === small ? "everywhere" : "in place";
      made.push(
        broadcasts ? RowsThere.placed(host, rows, where) : await RowsThere.owned(host, rows, side.parts),
      );
    }
    const [ofLeft, ofRight] = made;
    // arrays are delivered one after another: each takes the way between all GPUs
    const sides = await inOrder(parts, async (owner) => [
      { keys: await ofLeft.keys(owner, left.keys), columns: await ofLeft.columns(owner, left.columns) },
      { keys: await ofRight.keys(owner, right.keys), columns: await ofRight.columns(owner, right.columns) },
    ]);
    const { signal, mostPairs, log } = call;
    const joined = await settled(
      parts.map((part, owner) => {
        const [own, others] = sides[owner];
        return joinOn(part, own, others, { signal, mostPairs, ...(owner === 0 && { log }) });
      }),
      ({ left, right }) => destroyColumns([...left, ...right]),
    );
    noteExchange(call, made, rows);
    call.onProgress?.(rows, rows);
    const asked = { left: left.columns, right: right.columns };
    return await assembled(host, joined, asked, mostPairs ?? MAX_PAIRS);
  } finally {
    for (const each of made) each.release();
  }
}

/** Bytes that go along with a side's rows. */
function bytesOf({ keys, parts, columns }: SharedSide): number {
  const words = parts.reduce((sum, { each = 1 }) => sum + each, 0);
  return keys.rows * columns.reduce((sum, { values }) => sum + values.width, 4 * words);
}

async function inOrder<T>(parts: readonly unknown[], work: (owner: number) => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  for (const owner of parts.keys()) results.push(await work(owner));
  return results;
}

function noteExchange({ log }: RowCall, sides: readonly RowsThere[], total: number): void {
  const moved = sides.reduce((sum, side) => sum + side.moved, 0);
  log?.remark(`${moved} of ${total} rows went to another of ${sides[0].counts.length} GPUs`);
}

/** Joins the rows that a GPU owns. */
async function joinOn(
  part: RowOperations,
  left: JoinedSide,
  right: JoinedSide,
  call: RowCall,
): Promise<JoinedColumns> {
  if (left.keys.rows === 0 || right.keys.rows === 0) return { rows: 0, left: [], right: [] };
  const joined = await part.joinColumns?.(left, right, call);
  if (joined) return joined;
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

/** The rows of all GPUs as one table, whose columns lie where they were made. */
async function assembled(
  host: SeveralHost,
  all: readonly JoinedColumns[],
  sides: { readonly left: readonly WordColumn[]; readonly right: readonly WordColumn[] },
  most: number,
): Promise<JoinedColumns> {
  const rows = all.reduce((sum, joined) => sum + joined.rows, 0);
  if (rows > most) {
    for (const { left, right } of all) destroyColumns([...left, ...right]);
    throw new LimitError("rows", rows, most, "Join on more columns, or filter one side first.");
  }
  for (const { left, right } of all.filter((joined) => joined.rows === 0))
    destroyColumns([...left, ...right]);
  const filled = all.map((joined, gpu) => ({ ...joined, gpu })).filter((joined) => joined.rows > 0);
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

/** Groups rows at their owners, and puts the groups into the order of their first rows; null where it cannot. */
async function reduceShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  reductions: readonly Reduction[],
  call: ReduceCall,
): Promise<ReducedGroups | null> {
  const keyParts = keyPartsOf(keys);
  const columns = reductions.map(({ column }) => column && sharedColumn(column));
  if (!keyParts || columns.some((column, i) => column === null && reductions[i].column !== null)) return null;
  const rows = await RowsThere.owned(host, keys.rows, keyParts);
  const grouped: ReducedGroups[] = [];
  try {
    const numbers = await rows.numbers();
    const work = await inOrder(parts, async (owner) => {
      const own: Reduction[] = [];
      for (const [i, reduction] of reductions.entries()) {
        const column = columns[i] && (await rows.columns(owner, [columns[i]]))[0];
        own.push({ ...reduction, column } as Reduction);
      }
      const values = { kind: "fixed", width: 4, data: numbers[owner] } as const;
      own.push({ kind: "first", column: { values, validity: null } });
      return { keys: await rows.keys(owner, keys), reductions: own };
    });
    const { signal, log } = call;
    await settled(
      parts.map(async ({ reducer }, owner) => {
        const { keys, reductions } = work[owner];
        if (keys.rows === 0 || !reducer) return;
        const options = { signal, lists: false, ...(owner === 0 && { log }) };
        grouped[owner] = await reducer.reduce(keys, reductions, options);
      }),
    );
    noteExchange(call, [rows], keys.rows);
    const all = grouped.flatMap((groups, gpu) => (groups ? [{ ...groups, gpu }] : []));
    const isWhole = all.every(({ columns }) => columns.every((column) => sharedColumn(column) !== null));
    const merged = isWhole ? await merge(host, all) : null;
    call.onProgress?.(keys.rows, keys.rows);
    return merged;
  } finally {
    for (const { columns } of grouped.filter(Boolean)) destroyColumns(columns);
    rows.release();
  }
}

/** The rows that stay, of each key at its owner, ascending. */
async function distinctShared(
  host: SeveralHost,
  parts: readonly RowOperations[],
  keys: DeviceKeys,
  keyParts: readonly KeyPart[],
  keep: Keep,
  call: RowCall,
): Promise<Words> {
  const { gpus } = host;
  const rows = await RowsThere.owned(host, keys.rows, keyParts);
  const kept: Words[] = [];
  const scratch = gpus.hosts.map(({ gpu }) => new Scratch(gpu));
  try {
    const numbers = await rows.numbers();
    const there = await inOrder(parts, (owner) => rows.keys(owner, keys));
    const { signal, log } = call;
    const lists = await settled(
      parts.map(async (part, owner) => {
        if (there[owner].rows === 0) return [];
        const options = { signal, ...(owner === 0 && { log }) };
        kept[owner] = await part.distinctRows(there[owner], keep, options);
        const { length: COUNT } = kept[owner];
        const { gpu, engine } = gpus.hosts[owner];
        const buffer = await scratch[owner].buffer(4 * COUNT + 4);
        const bindings = { order: rangeOf(kept[owner]), column: rangeOf(numbers[owner]), to: { buffer } };
        const gather = await gpu.compile(ownerKernels.gather, {});
        await gpu.submit("numbers", (recorder) =>
          recorder.dispatch(gather, bindings, { COUNT, BYTES: 4 }, blocksFor(COUNT)),
        );
        const data = gpuArray(engine, gpu, "u32", COUNT, { buffer, byteOffset: 0, owned: false });
        const column: DeviceColumn = { values: { kind: "fixed", width: 4, data }, validity: null };
        return [{ gpu: owner, groups: COUNT, columns: [column, column] }];
      }),
    );
    noteExchange(call, [rows], keys.rows);
    const { columns } = await merge(host, lists.flat());
    call.onProgress?.(keys.rows, keys.rows);
    return (columns[0] as WordColumn).values.data;
  } finally {
    for (const list of kept) list?.destroy();
    gpus.release(scratch);
    rows.release();
  }
}

/** Brings the groups of all GPUs to the first, in the order of the numbers in their last column. */
async function merge(
  host: SeveralHost,
  all: readonly Pick<GroupsOf, "gpu" | "groups" | "columns">[],
): Promise<ReducedGroups> {
  const { gpus, engine } = host;
  const { engine: firstEngine, gpu } = gpus.hosts[0];
  const scratch = new Scratch(gpu);
  const made: DeviceColumn[] = [];
  const starts = all.map(() => 0);
  for (let i = 1; i < all.length; i++) starts[i] = starts[i - 1] + all[i - 1].groups;
  const groups = all.reduce((sum, each) => sum + each.groups, 0);
  /** A column of all, one GPU's behind the other's. */
  const collected = (c: number): Promise<Range> => {
    const words = widthOf(all[0].columns[c]) / 4;
    const pieces = all.map(({ gpu: at, columns, groups: length }, i) => {
      const { data } = (columns[c] as WordColumn).values;
      return { gpu: at, first: starts[i] * words, array: borrowed(host, at, data, length * words) };
    });
    const whole = arrayOf(engine, "u32", pieces);
    return inputOn(gpus, scratch, "u32", whole, { gpu: 0, first: 0, count: groups * words });
  };
  try {
    const last = all[0].columns.length - 1;
    const numbers = await collected(last);
    const ends = { buffer: await scratch.buffer(4 * all.length) };
    const places = { buffer: await scratch.buffer(4 * groups + 4) };
    const [merging, scatter] = await Promise.all([
      gpu.compile(ownerKernels.merge, {}),
      gpu.compile(ownerKernels.scatter, {}),
    ]);
    gpu.write(
      ends.buffer,
      0,
      new Uint8Array(Uint32Array.from(all, (each, i) => starts[i] + each.groups).buffer),
    );
    const params = { COUNT: groups, LISTS: all.length };
    await gpu.submit("merge", (recorder) =>
      recorder.dispatch(merging, { numbers, ends, places }, params, blocksFor(groups)),
    );
    for (let c = 0; c < last; c++) {
      const { values } = all[0].columns[c] as WordColumn;
      const column = await collected(c);
      const data = await newArray(firstEngine, gpu, "u32", (groups * values.width) / 4);
      made.push({ values: { ...values, data: arrayOn(engine, 0, data) }, validity: null });
      const to = rangeOf(data);
      const words = { COUNT: groups, FROM: 0, BYTES: values.width };
      await gpu.submit("merge", (recorder) =>
        recorder.dispatch(scatter, { order: places, column, to }, words, blocksFor(groups)),
      );
    }
    return { groups, columns: made, groupOf: null };
  } catch (error) {
    destroyColumns(made);
    throw error;
  } finally {
    gpus.release([scratch]);
  }
}

const widthOf = (column: DeviceColumn): number => (column as WordColumn).values.width;
