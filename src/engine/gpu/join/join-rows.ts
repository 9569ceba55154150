/**
 * Inner join of row keys on the GPU. The smaller side's equal rows are grouped in a table (../groups/group-table.ts); the rows of the
 * other side probe it. Where every build row is a group of its own, the probe writes pairs at once. Else groups are laid out one
 * after the other, the pairs of each probe row are counted and scanned, and every pair is written by an invocation of its own, so
 * one key with a large share of both sides costs what its pairs cost.
 *
 * Grouping, scanning and listing are not here but in ../groups.
 */

import type { GroupCall } from "../../row-groups.js";
import { MAX_PAIRS, type RowKeys, type RowPairs } from "../../rows.js";
import { asBytes } from "../../scalars.js";
import { beginGroups, type GroupTable, probing } from "../groups/group-table.js";
import { largestRange, packRecords, type Records, recordLayout } from "../groups/row-records.js";
import { checkBinding, type RowHost, type RowRun, runRows } from "../groups/row-run.js";
import { readBytes } from "../memory/read-bytes.js";
import { countPairs, type GroupLists, type PairInputs, pairsByRecords } from "./count-pairs.js";
import { expandKernel, probeUniqueKernel } from "./join-kernels.js";

/** Passes over the rows after packing: numbering or probing. */
const PASSES = 1;
/** Pairs brought to the host at once: 16 MiB per column. */
const PAIR_CHUNK = 2 ** 22;

/** Joins two sides; see engine/rows.ts for what makes rows equal. */
export async function joinRows(
  host: RowHost,
  left: RowKeys,
  right: RowKeys,
  call: GroupCall,
): Promise<RowPairs> {
  const swapped = left.rows < right.rows;
  const [buildSide, probeSide] = swapped ? [left, right] : [right, left];
  const layout = recordLayout(left, right);
  const work = { call, layout, rows: left.rows + right.rows, passes: left.columns.length + PASSES };
  const { build, probe } = await runRows(host, work, (run) =>
    join(run, buildSide, probeSide, call.mostPairs),
  );
  return swapped ? { left: build, right: probe } : { left: probe, right: build };
}

interface Pairs {
  build: Uint32Array;
  probe: Uint32Array;
}

async function join(
  run: RowRun,
  buildSide: RowKeys,
  probeSide: RowKeys,
  mostPairs = MAX_PAIRS,
): Promise<Pairs> {
  // the smaller side
  if (buildSide.rows === 0) {
    run.finish();
    return newPairs(0);
  }
  const { host, layout } = run;
  checkBinding(host.gpu, Math.max(largestRange(buildSide, layout), largestRange(probeSide, layout)));
  const build = await packRecords(run, buildSide);
  const probe = await packRecords(run, probeSide);
  const leaders = await run.range(build.rows * 4);
  const { finish } = await beginGroups(run, build, { leaders, numbered: false }, true);
  const built = await finish();
  if (built === null) return join(run, buildSide, probeSide, mostPairs);
  return findPairs(run, built.table, probe, mostPairs);
}

/**
 * The pairs of some rows with those of a table.
 * @param lists of the table; null: they are made, and the groups' sizes are replaced by where groups begin
 */
export function findPairs(
  run: RowRun,
  table: GroupTable,
  probe: Records,
  mostPairs = MAX_PAIRS,
  lists: GroupLists | null = null,
): Promise<Pairs> {
  return table.groups === table.members
    ? probeUnique(run, table, probe)
    : probeGroups(run, table, probe, mostPairs, lists);
}

/** Pairs when no two build rows are equal: at most one per probe row. */
async function probeUnique(run: RowRun, table: GroupTable, probe: Records): Promise<Pairs> {
  const outBuild = await run.range(probe.rows * 4);
  const outProbe = await run.range(probe.rows * 4);
  const find = await run.step(probeUniqueKernel, {});
  const { bindings, params } = probing(run, table, probe);
  const onChunk = run.noting("no two build rows are equal, so the probe writes pairs at once");
  await run.eachChunk(
    "join probe",
    probe.rows,
    (recorder, chunk) => find(recorder, { ...bindings, outBuild, outProbe }, { ...params, ...chunk }),
    { onChunk },
  );
  const pairs = newPairs(run.counters.totalLow);
  const columns = [
    [outBuild, pairs.build],
    [outProbe, pairs.probe],
  ] as const;
  const read = ([{ buffer }, words]: (typeof columns)[number]) =>
    readBytes(run.host.gpu, "pairs", { buffer, offset: 0, into: asBytes(words) });
  await Promise.all(columns.map(read));
  return pairs;
}

/** Pairs when build rows repeat. */
async function probeGroups(
  run: RowRun,
  table: GroupTable,
  probe: Records,
  mostPairs: number,
  lists: GroupLists | null,
): Promise<Pairs> {
  const source = await pairsByRecords(run, table, probe);
  const { total, inputs } = await countPairs(run, source, mostPairs, lists);
  return expand(run, total, probe.rows, inputs);
}

/** Writes the pairs a chunk at a time and brings them to the host. */
async function expand(run: RowRun, total: number, probeRows: number, inputs: PairInputs): Promise<Pairs> {
  const pairs = newPairs(total);
  const room = Math.min(total, PAIR_CHUNK) * 4;
  const outBuild = await run.range(room);
  const outProbe = await run.range(room);
  const write = await run.step(expandKernel, {});
  for (let first = 0; first < total; first += PAIR_CHUNK) {
    run.checkSignal();
    const count = Math.min(PAIR_CHUNK, total - first);
    const piece = (words: Uint32Array) => asBytes(words.subarray(first, first + count));
    await run.submitAndWait(
      "pairs",
      (recorder) => write(recorder, { ...inputs, outBuild, outProbe }, { first, count, total: probeRows }),
      [
        { buffer: outBuild.buffer, offset: 0, into: piece(pairs.build) },
        { buffer: outProbe.buffer, offset: 0, into: piece(pairs.probe) },
      ],
    );
  }
  return pairs;
}

function newPairs(count: number): Pairs {
  return { build: new Uint32Array(count), probe: new Uint32Array(count) };
}
