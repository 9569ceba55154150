/**
 * Jobs on columns of tables that threads share: gathering rows (gather.ts), marking rows, and counts, sums and extremes
 * by group (aggregate.ts).
 */
import { isSet } from "../bitmaps.js";
import { type GatherTask, gatherBuffers } from "./gather-buffers.js";
import { type PlacedTask, runPiece } from "./group-tasks.js";
import { inOneGo, type Made, silently, type Work } from "./work.js";

export type ColumnJob =
  /** Gather columns; a piece is a task. Each thread makes its results in memory of its own. */
  | { readonly kind: "gather"; readonly tasks: readonly GatherTask[] }
  /** Set the bits of rows, which may come several times; a piece is some neighbouring ones. */
  | { readonly kind: "mark"; readonly rows: Uint32Array; readonly bits: Uint8Array }
  /** Work through tasks; a piece is a piece of one, which writes states that no other piece writes. */
  | { readonly kind: "aggregate"; readonly tasks: readonly PlacedTask[] };

/** A job as a thread works on it. */
export function openColumnJob(job: ColumnJob): Work {
  if (job.kind === "mark") return openMark(job.rows, job.bits);
  return job.kind === "gather" ? openGather(job.tasks) : openAggregate(job.tasks);
}

/** Rows that a thread marks at once. */
const MARKED_ROWS = 2 ** 16;

function openMark(rows: Uint32Array, bits: Uint8Array): Work {
  return silently(Math.ceil(rows.length / MARKED_ROWS), (piece) => {
    const end = Math.min(rows.length, (piece + 1) * MARKED_ROWS);
    for (let i = piece * MARKED_ROWS; i < end; i++) {
      const row = rows[i];
      // most rows come again and again, or next to each other: atomics are for the first time
      if (!isSet(bits, row)) Atomics.or(bits, row >>> 3, 1 << (row & 7));
    }
  });
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
