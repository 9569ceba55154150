/** Counts, sums and extremes by group; a piece is a piece of a task, which writes states that no other piece writes. */
import { type PlacedTask, runPiece } from "../../group-tasks.js";
import { silently, type Work } from "./work.js";

/** Work through tasks. */
export interface GroupJob {
  readonly kind: "group";
  readonly tasks: readonly PlacedTask[];
}

export function openGroupJob({ tasks }: GroupJob): Work {
  const pieces = tasks.flatMap((task) =>
    Array.from({ length: task.pieces }, (_, piece) => ({ task, piece })),
  );
  return silently(pieces.length, (number) => {
    const { task, piece } = pieces[number];
    runPiece(task, piece);
  });
}
