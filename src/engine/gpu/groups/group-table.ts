/**
 * A table of rows on the GPU in which equal rows are one group: its keys are rows, and a slot holds the number of one
 * row of its group, the leader. Kept beside it, by row: the row's leader and its rank in the group; and by leader: the
 * group's size. number-rows.wgsl builds it, find-group.wgsl probes it with rows of another side, list-members.wgsl
 * lists its rows.
 *
 * Joins know groups by their leaders. group-rows.ts, which wants numbers without gaps, asks for those too.
 */
import { EngineError } from "../../../errors.js";
import type { DeviceKeys } from "../../device-columns.js";
import type { Keying } from "../../hash-seed.js";
import { EMPTY } from "../../layout.js";
import { filling } from "../fill.js";
import type { Range } from "../runtime.js";
import { listMembersKernel, numberRowsKernel } from "./row-kernels.js";
import { packRecords, type Records } from "./row-records.js";
import type { RowRun, StepOptions } from "./row-run.js";

/**
 * Slots of a probe, at most: one of 2^31 rows passes so many where hashes are random, so it takes keys that somebody
 * chose. Then the table is built anew with another seed; where that does not help, so many times, probes may be as long
 * as they are.
 */
const REACH = 512;
const RESEEDED = 3;
/** Slots per row: load factor 0.5 when no two rows are equal. The slots take no more bytes than the records do. */
const SLOTS_PER_ROW = 2;
/** Times that rows may be left over by spurious failures, 256 at a time, before the driver is called broken. */
const MAX_BUILD_ROUNDS = 64;

/** The table, and what is known of its rows. */
export interface GroupTable {
  readonly side: Records;
  readonly slots: number;
  readonly table: Range;
  /** Per leader: rows of its group. 0 for other rows. If ranks were asked for. */
  readonly sizes: Range;
  /** Per row: its leader, or 0xffffffff for a row in no group. */
  readonly leaders: Range;
  /**
   * Per row in a group: a number below the group's size that no other row of the group has. If ranks were asked for.
   */
  readonly ranks: Range;
  /** Per leader: the number of its group, if numbers were asked for. */
  readonly numbers: Range | undefined;
  /** Slots of a probe at most, and what the rows' words were hashed as. */
  readonly reach: number;
  readonly keying: Keying;
  readonly groups: number;
  /** Rows in groups. */
  readonly members: number;
}

export interface GroupOptions {
  /** Where the rows' leaders go. */
  readonly leaders: Range;
  /** Whether groups get numbers. */
  readonly numbered: boolean;
  /** Whether rows get ranks: an addition each, which rows of one large group wait for. */
  readonly ranked?: boolean;
}

export interface GroupsAhead {
  readonly table: Omit<GroupTable, "groups" | "members">;
  /**
   * The table, once the caller has waited for a submission after its first pass. `again`: further passes were needed,
   * so what was read from it before has to be read again. Null where hashes crowd: the run has another seed then, and
   * all is to be done anew.
   * @throws EngineError when compare-exchange fails without end.
   */
  finish(): Promise<{ table: GroupTable; again: boolean } | null>;
}

/**
 * Packs the rows of a side (row-records.ts) and groups them; one pass over its rows. Rows to be looked up are packed
 * afterwards.
 * @throws EngineError when compare-exchange fails without end.
 */
export async function buildGroups(run: RowRun, keys: DeviceKeys, options: GroupOptions): Promise<GroupTable> {
  for (;;) {
    const { finish } = await beginGroups(run, await packRecords(run, keys), options, true);
    const built = await finish();
    if (built !== null) return built.table;
  }
}

/** As `buildGroups`; the first pass is only queued where it is short, unless the caller `waits`. */
export async function beginGroups(
  run: RowRun,
  side: Records,
  { leaders, numbered, ranked = true }: GroupOptions,
  waits = false,
): Promise<GroupsAhead> {
  const { gpu } = run.host;
  const { rows } = side;
  const slots = rows * SLOTS_PER_ROW;
  const reach = run.reseeded < RESEEDED ? Math.min(REACH, slots) : slots;
  const table = await run.range(slots * 4);
  const sizes = await run.range(ranked ? rows * 4 : 0);
  const ranks = await run.range(ranked ? rows * 4 : 0);
  const numbers = numbered ? await run.range(rows * 4) : undefined;
  const fill = await filling(gpu, EMPTY);
  const numberRows = await run.step(numberRowsKernel, { NUMBERED: numbered, RANKED: ranked });
  run.queue((recorder) => {
    fill(recorder, table);
    recorder.clear(sizes.buffer, 0, sizes.size);
  });
  const { records, bytes } = side;
  const { control } = run;
  const bindings = { records, bytes, control, table, sizes, leaders, ranks, numbers };
  const pass = (round: number, options: StepOptions) =>
    run.eachChunk(
      "number rows",
      rows,
      (recorder, chunk) => numberRows(recorder, bindings, chunk, { slots, reach, round }),
      options,
    );
  let { unfinished } = run.counters;
  await pass(0, { waits, onChunk: run.noting("equal rows are numbered in one table") });
  const built = { side, slots, reach, keying: run.keying, table, sizes, leaders, ranks, numbers };
  const finish = async () => {
    if (run.counters.crowded > 0) {
      run.reseed();
      return null;
    }
    let round = 1;
    for (; run.counters.unfinished !== unfinished; round++) {
      if (round === MAX_BUILD_ROUNDS)
        throw new EngineError("compare-exchange fails without end on this GPU.");
      unfinished = run.counters.unfinished;
      await pass(round, { isPass: false });
    }
    const { groups, excluded } = run.counters;
    return { table: { ...built, groups, members: rows - excluded }, again: round > 1 };
  };
  return { table: built, finish };
}

/** Bindings and parameters of kernels that find the groups of another side's rows: see `finding` in row-kernels.ts. */
export function probing(
  { control }: RowRun,
  { side, table, slots, reach }: GroupsAhead["table"],
  probe: Records,
) {
  const bindings = {
    buildRecords: side.records,
    buildBytes: side.bytes,
    records: probe.records,
    bytes: probe.bytes,
    control,
    table,
  };
  return { bindings, params: { slots, reach } };
}

/**
 * Lists the rows group by group; a step over all rows.
 * @param groupOf per row: its leader, or its group's number.
 * @param starts where the groups begin, by the same.
 */
export async function listMembers(
  run: RowRun,
  { rows, ranks }: { readonly rows: number; readonly ranks: Range },
  { groupOf, starts, members }: { groupOf: Range; starts: Range; members: Range },
  isPass: boolean,
): Promise<void> {
  await run.over(listMembersKernel, {}, rows, { groupOf, ranks, starts, members }, {}, { isPass });
}
