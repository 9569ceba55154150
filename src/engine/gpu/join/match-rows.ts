/**
 * Joins on the GPU, whose result is row numbers, there or on the host: of two sides, the smaller of which is the build
 * side, or of one side with an index that was built before (match.ts).
 */
import type { DeviceKeys, KindAt, MatchCall, MatchesAt } from "../../device-columns.js";
import type { Placement } from "../../engine.js";
import type { JoinKind } from "../../join-kinds.js";
import { ResultColumns } from "../groups/result-columns.js";
import { largestRange, type RecordLayout, recordLayout } from "../groups/row-records.js";
import { checkBinding, runRows } from "../groups/row-run.js";
import type { GpuHost } from "../host.js";
import { type BuiltSide, Match, type MatchedSides } from "./match.js";

/** Passes over the rows after packing: numbering or probing. */
const PASSES = 1;

export function matchRows<P extends Placement = "device">(
  host: GpuHost,
  left: DeviceKeys,
  right: DeviceKeys,
  how: KindAt<P>,
  call: MatchCall<P>,
): Promise<MatchesAt<P>> {
  const isHalf = how === "semi" || how === "anti";
  const buildsLeft = !isHalf && left.rows < right.rows;
  const [build, probe] = buildsLeft ? [left, right] : [right, left];
  const sides = { build, probe, buildsLeft, built: null };
  return matching(host, sides, recordLayout(left, right), left.rows + right.rows, how, call);
}

/** The table of an index. */
export interface Indexed {
  readonly rows: number;
  readonly layout: RecordLayout;
  /** Null of no rows. */
  readonly built: BuiltSide | null;
}

/** Joins rows, which are a side of the join, with those of an index; see engine/row-operations.ts. */
export function matchIndexed<P extends Placement = "device">(
  host: GpuHost,
  { rows, layout, built }: Indexed,
  probe: DeviceKeys,
  side: "left" | "right",
  how: KindAt<P>,
  call: MatchCall<P>,
): Promise<MatchesAt<P>> {
  checkBinding(host.gpu, largestRange(probe, layout));
  const sides = { build: { rows, columns: [] }, probe, buildsLeft: side === "right", built };
  return matching(host, sides, layout, probe.rows, how, call);
}

async function matching<P extends Placement>(
  host: GpuHost,
  sides: MatchedSides,
  layout: RecordLayout,
  rows: number,
  how: JoinKind,
  call: MatchCall<P>,
): Promise<MatchesAt<P>> {
  const columns = new ResultColumns(host);
  const work = { call, layout, rows, passes: sides.probe.columns.length + PASSES };
  try {
    const answer = await runRows<MatchesAt<Placement>>(host, work, (run) => {
      const match = new Match(run, columns, call, sides, how);
      return call.output === "host" ? match.pairs() : match.answer();
    });
    return answer as MatchesAt<P>;
  } catch (error) {
    columns.destroy();
    throw error;
  }
}
