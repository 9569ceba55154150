/** Jobs on columns of tables that threads share: gathering rows (gather.ts), and counts, sums and extremes by group (aggregate.ts). */
import { type GatherTask, gatherBuffers } from "./gather-buffers.js";
import { type PlacedTask, runPiece } from "./group-tasks.js";
import { inOneGo, type Made, silently, type Work } from "./work.js";

export type ColumnJob =
  /** Gather columns; a piece is a task. Each thread makes its results in memory of its own. */
  | { readonly kind: "gather"; readonly tasks: readonly GatherTask[] }
  /** Work through tasks; a piece is a piece of one, which writes states that no other piece writes. */
  | { readonly kind: "aggregate"; readonly tasks: readonly PlacedTask[] };

/** A job as a thread works on it. */
export function openColumnJob(job: ColumnJob): Work {
  return job.kind === "gather" ? openGather(job.tasks) : openAggregate(job.tasks);
}

function openGather(tasks: readonly GatherTask[]): Work {
  const made: Made[] = [];
  const run = (task: number) => void made.push({ task, buffers: gatherBuffers(tasks[task]) });
  return { pieces: tasks.length, run: inOneGo(run), result: () => ({ repeats: 0, made }) };
}

function openAggregate(tasks: readonly PlacedTask[]): Work {
  const pieces = tasks.flatMap((task) =>
    Array.from({ length: task.pieces }, (_, piece) => ({ task, piece })),
  );
  return silently(pieces.length, (number) => {
    const { task, piece } = pieces[number];
    runPiece(task, piece);
  });
}
