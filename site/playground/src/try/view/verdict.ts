/** Who was fastest, in words; where that is another, by how much, and what of it is known. */
import { grouped, msText } from "../../dom.js";
import type { Comparison, Contest } from "../protocol.js";

/** Below so many rows the fixed costs of a call show. */
const FEW_ROWS = 1_000_000;
/** Nearer than this is a draw: the page and the machine do other things, too. */
const DRAW = 1.1;
/** A stage that has so much of the time is named. */
const MOST = 0.5;

/** What stages do, for readers who see their names for the first time. */
const STAGES: Readonly<Record<string, string>> = {
  materialise: "copies the result's columns into a new Arrow table",
  "encode keys": "brings keys into a form that is compared as bytes",
  "hash join": "finds the pairs of rows",
  "group rows": "gives rows of equal keys one number",
  aggregate: "computes the values of each group",
};

type Timed = Contest & { readonly ms: number };

/** Sentences, the verdict first. The first contest is warpmap's. */
export function verdictOf({ contests, inputRows }: Comparison): string[] {
  const [own, ...others] = contests.filter((contest): contest is Timed => contest.ms !== null);
  const fastest = others.reduce<Timed | undefined>((a, b) => (a && a.ms <= b.ms ? a : b), undefined);
  if (!own || own !== contests[0] || !fastest) return [];
  const factor = own.ms / fastest.ms;
  const both = `warpmap took ${msText(own.ms)}, ${fastest.name} ${msText(fastest.ms)}`;
  if (factor < 1 / DRAW) return [`warpmap was the fastest: ${both}, ${times(1 / factor)} as long.`];
  if (factor <= DRAW) return [`As fast as the fastest: ${both}.`];
  return [
    `warpmap was not the fastest here: ${both}. It took ${times(factor)} as long.`,
    ...reasonsOf(own, fastest, inputRows),
  ];
}

const times = (factor: number) => `${factor.toFixed(factor < 10 ? 1 : 0)} times`;

function reasonsOf(own: Timed, fastest: Timed, inputRows: number): string[] {
  const reasons: string[] = [];
  if (inputRows < FEW_ROWS)
    reasons.push(
      `${grouped(inputRows)} rows are few: the fixed cost of a call, such as sharing work among threads, outweighs what it gains. Try millions.`,
    );
  const longest = own.stages.reduce((a, b) => (b.ms > a.ms ? b : a), { name: "", ms: 0 });
  if (longest.ms > MOST * own.ms) {
    const does = STAGES[longest.name] ? `, which ${STAGES[longest.name]}` : "";
    reasons.push(
      `${Math.round((100 * longest.ms) / own.ms)} % of its time went into “${longest.name}”${does}.`,
    );
  }
  if (fastest.loadMs !== null && fastest.loadMs + fastest.ms > own.ms)
    reasons.push(
      `Converting the tables for ${fastest.name} took ${msText(fastest.loadMs)}, which its time leaves out; warpmap starts from Arrow tables as they were read.`,
    );
  return reasons;
}
