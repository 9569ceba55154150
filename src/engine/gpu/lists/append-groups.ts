/**
 * Adding groups of equal keys to lists. Groups are counted by list (tally-groups.wgsl), each list gets room for its own
 * (allocate-pieces.wgsl), and the values go where the groups say (resolve-targets.wgsl, put-groups.wgsl): in one
 * submission, where there surely is room.
 */
import type { DeviceArray } from "../../device-array.js";
import type { CallOptions } from "../../engine.js";
import type { BasicType } from "../../scalars.js";
import { rangeOf } from "../memory/array-elements.js";
import type { Recorder } from "../runtime.js";
import type { GroupedBatch } from "./group-batch.js";
import { allocatePieces, putGroups, resetTallies, resolveTargets, tallyGroups } from "./list-kernels.js";
import { type ListRun, runLists } from "./list-run.js";
import type { ListState } from "./list-state.js";

/** Makes lists longer by groups, each that with its number, if it has one; answers as ValueLists.append. */
export function appendGroups(
  state: ListState,
  numbers: DeviceArray<"u32">,
  batch: GroupedBatch<BasicType>,
  call: CallOptions,
): Promise<number | null> {
  return runLists(state.host, call, (run) =>
    state.valueWords === 0 ? count(run, state, numbers, batch) : append(run, state, numbers, batch),
  );
}

async function count(
  run: ListRun,
  state: ListState,
  numbers: DeviceArray<"u32">,
  { sizes }: GroupedBatch<BasicType>,
): Promise<number> {
  const add = await run.step(tallyGroups, { HEAD: 1, RANKED: false, COUNTS_LISTS: true });
  const bindings = { numbers: rangeOf(numbers), sizes, tallies: state.bind("heads"), control: run.control };
  const { entries, filled } = await run.counted("count groups", (recorder) =>
    add(recorder, bindings, { count: numbers.length }),
  );
  state.entries += entries;
  state.filled += filled;
  return entries;
}

async function append(
  run: ListRun,
  state: ListState,
  numbers: DeviceArray<"u32">,
  batch: GroupedBatch<BasicType>,
): Promise<number | null> {
  const steps = await prepare(run, state, numbers, batch);
  const { used, recordsUsed } = state;
  const finish = (growth: number) => (recorder: Recorder) => {
    steps.allocate(recorder, growth, false);
    steps.put(recorder);
    steps.reset(recorder);
  };
  const sure = state.sureGrowth(batch.elements);
  let done: Awaited<ReturnType<ListRun["counted"]>>;
  if (sure !== null) {
    done = await run.counted("append groups", (recorder) => {
      steps.tally(recorder);
      finish(sure)(recorder);
    });
  } else {
    const { entries } = await run.counted("tally groups", steps.tally);
    const growth = await state
      .growthFor(entries, (growth) =>
        run.counted("measure", (recorder) => steps.allocate(recorder, growth, true)),
      )
      .catch(async (error) => {
        await run.submit("reset tallies", steps.reset);
        throw error;
      });
    if (growth === null) {
      await run.submit("reset tallies", steps.reset);
      return null;
    }
    done = { ...(await run.counted("append groups", finish(growth))), entries };
  }
  state.used = used + done.room;
  state.recordsUsed = recordsUsed + done.records;
  state.filled += done.filled;
  state.entries += done.entries;
  return done.entries;
}

/** What records each step; all memory is there, and all kernels are compiled. */
async function prepare(
  run: ListRun,
  state: ListState,
  numbers: DeviceArray<"u32">,
  { sizes, staged, tiling, places, tileGroups }: GroupedBatch<BasicType>,
) {
  const count = numbers.length;
  const [ranks, befores, targets] = [
    await run.range(count * 4),
    await run.range(count * 4),
    await run.range(count * 8),
  ];
  const [measure, make, add, target, write, zero] = await Promise.all([
    run.step(allocatePieces, { HEAD: 2, MEASURES: true }),
    run.step(allocatePieces, { HEAD: 2, MEASURES: false }),
    run.step(tallyGroups, { HEAD: 2, RANKED: true, COUNTS_LISTS: false }),
    run.step(resolveTargets, { HEAD: 2 }),
    run.gridStep(putGroups, { HEAD: 2 }, tiling.grid),
    run.step(resetTallies, { HEAD: 2 }),
  ]);
  const { control } = run;
  const given = { numbers: rangeOf(numbers), ranks };
  const [heads, added, room] = [state.bind("heads"), state.bind("added"), state.bind("room")];
  const { items, ranges } = staged;
  return {
    tally: (recorder: Recorder) => add(recorder, { ...given, sizes, tallies: added, control }, { count }),
    allocate: (recorder: Recorder, growth: number, measures: boolean) =>
      (measures ? measure : make)(
        recorder,
        { ...given, control, added, heads, records: state.bind("records") },
        { count, growth, base: state.used, recordBase: state.recordsUsed },
      ),
    put(recorder: Recorder) {
      const records = state.bind("records");
      target(recorder, { ...given, added, heads, records, targets, befores }, { count });
      write(
        recorder,
        { ranges, items, places, tileGroups, targets, befores, room },
        { pageRoom: staged.room, tile: tiling.tile },
      );
    },
    reset: (recorder: Recorder) => zero(recorder, { ...given, added }, { count }),
  };
}
