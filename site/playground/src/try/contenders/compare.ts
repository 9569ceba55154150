/**
 * The same work by warpmap and by others, on the same data in one worker. Every answer is compared with warpmap's first; then those that
 * are the same take turns, run by run, and the median counts.
 */
import type { Device } from "warpmap";
import { median, timeInTurn } from "../../../../../bench/timing.js";
import { breathe, type CallContext } from "../../rpc/server.js";
import type { Comparison, Contest, Progress, Spec, Stage } from "../protocol.js";
import { operate, type Run, type Tables } from "../worker/operate.js";
import { arqueroEntrant } from "./arquero.js";
import { answerOf, type Contender, type Entrant } from "./contender.js";
import { duckdbEntrant } from "./duckdb.js";
import { mapEntrant } from "./map.js";
import { judgeOf } from "./same-answer.js";

const RUNS = 3;
const OTHERS: readonly Entrant[] = [mapEntrant, arqueroEntrant, duckdbEntrant];

/** One that competes, and what is known of it so far. */
interface Entry {
  readonly contender: Contender;
  readonly loadMs: number | null;
  readonly rows: number;
  readonly same: Contest["same"];
  readonly stages: Stage[][];
}

export async function compare(
  tables: Tables,
  spec: Spec,
  device: Device,
  { signal, progress }: CallContext,
): Promise<Comparison> {
  const say = (text: string) => progress({ text } satisfies Progress);
  const entries: Entry[] = [];
  const absent: Contest[] = [];
  try {
    say("warpmap");
    const own = warpmapContender(tables, spec, device, signal);
    await own.run();
    const answer = await own.answer();
    const judge = await judgeOf(answer, spec, tables.left, signal);
    entries.push({ contender: own, loadMs: null, rows: answer.rows, same: null, stages: [] });
    for (const entrant of OTHERS) {
      say(`${entrant.name}: its answer`);
      await breathe(signal);
      const start = performance.now();
      try {
        const contender = await entrant.enter(tables, spec, signal);
        const loadMs = performance.now() - start;
        const entry = { contender, loadMs, rows: 0, same: "no answer", stages: [] };
        entries.push(entry);
        await contender.run();
        await breathe(signal);
        const other = await contender.answer();
        Object.assign(entry, { rows: other.rows, same: await judge.judge(other) });
      } catch (error) {
        signal.throwIfAborted();
        absent.push(without(entrant.name, error as Error));
        if (entries.at(-1)?.same === "no answer") await entries.pop()?.contender.close?.();
      }
    }
    const contests = await timed(entries, signal, say);
    const inputRows = tables.left.numRows + (spec.kind === "join" ? tables.right.numRows : 0);
    return { contests: [...contests, ...absent], inputRows, compared: comparedText(spec) };
  } finally {
    for (const { contender } of entries) await contender.close?.();
  }
}

function warpmapContender(tables: Tables, spec: Spec, device: Device, signal: AbortSignal): Contender {
  let run: Run | null = null;
  const { threads } = device.info;
  const engine =
    device.backend === "cpu" ? `${threads} ${threads === 1 ? "thread" : "threads"}` : device.info.name;
  return {
    name: `warpmap, ${device.backend}`,
    how: `from an Arrow table to an Arrow table, ${engine}`,
    async run() {
      run = await operate(tables, spec, device, { signal });
      return run.stages;
    },
    answer: () => answerOf((run as Run).table),
  };
}

function without(name: string, { message }: Error): Contest {
  return { name, how: "", loadMs: null, rows: null, same: message, ms: null, runs: 0, stages: [] };
}

async function timed(
  entries: readonly Entry[],
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<Contest[]> {
  const running = entries.filter(({ same }) => same === true || same === null);
  const timings = await timeInTurn(
    running.map(({ contender, stages }) => ({
      before: async () => {
        say(`${contender.name}: timing`);
        await breathe(signal);
      },
      call: async () => {
        stages.push([...(await contender.run())]);
      },
    })),
    { runs: RUNS, leastTotalMs: 0 },
  );
  return entries.map((entry): Contest => {
    const timing = timings[running.indexOf(entry)];
    const { contender, loadMs, rows, same } = entry;
    return {
      name: contender.name,
      how: contender.how,
      loadMs,
      rows,
      same,
      ms: timing?.median ?? null,
      runs: timing?.runs ?? 0,
      // the first run is the warm-up of timeInTurn
      stages: timing ? medians(entry.stages.slice(1)) : [],
    };
  });
}

function medians(runs: readonly (readonly Stage[])[]): Stage[] {
  return (runs[0] ?? []).map(({ name }, i) => ({ name, ms: median(runs.map((stages) => stages[i].ms)) }));
}

function comparedText({ kind }: Spec): string {
  const how =
    kind === "group"
      ? "each group by its keys; numbers may differ by 10⁻⁹ of their size or, near 0, by 10⁻¹² of the column's largest"
      : "all values of all rows, in any order, by sums of two hashes of each row";
  return `Before timing, every answer was compared with warpmap's: ${how}. Contenders with the same answer then ran in turn, in this page.`;
}
