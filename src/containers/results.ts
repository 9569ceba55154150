/**
 * Where the results of a call go, and what becomes of them. The checks are as in arguments.ts: before anything is done.
 */
import { DeviceArray } from "../engine/device-array.js";
import { columnsOf, type ElementType } from "../engine/element-types.js";
import type { ColumnOutput, ColumnTarget, Destination, Engine, Output, Placement } from "../engine/engine.js";
import { PinnedArray } from "../engine/pinned-array.js";
import { allocate, firstOf, type ScalarArrays, type ScalarType } from "../engine/scalars.js";
import { ValidationError } from "../errors.js";
import { type Call, checkElements, type IntoOption, type OutputOption, type Placed } from "./arguments.js";

/**
 * Checks `into`, and answers where a call's results go.
 * @param types the results' types by their names in `into`, in the order of the operation's targets. @internal
 */
export function destination(
  engine: Engine,
  { output = "host", into }: OutputOption<Placement> & IntoOption<object>,
  length: number,
  types: Readonly<Record<string, ElementType>>,
): Destination {
  if (into === undefined) return output;
  if (output === "device") {
    throw new ValidationError('into was given together with output "device".', "Leave out one of the two.");
  }
  const targets = Object.entries(types).flatMap(([name, type]) => {
    const target: ColumnTarget | readonly ColumnTarget[] = into?.[name as keyof typeof into];
    checkElements(engine, `into.${name}`, type, target, "readback");
    return columnsOf(target);
  });
  checkRoom(targets, length);
  return targets;
}

/** Checks that no target of a call is, or shares memory with, another one or an input. */
export function checkApart(to: Destination, inputs: readonly unknown[]): void {
  if (typeof to === "string") return;
  to.forEach((target, i) => {
    const others = [...inputs, ...to.slice(i + 1)];
    if (!others.some((other) => other === target || overlap(target, other))) return;
    throw new ValidationError(
      "into has an array that is, or shares memory with, another one of this call.",
      "Give each result an array of its own.",
    );
  });
}

function overlap(a: unknown, b: unknown): boolean {
  if (!ArrayBuffer.isView(a) || !ArrayBuffer.isView(b) || a.buffer !== b.buffer) return false;
  return a.byteOffset < b.byteOffset + b.byteLength && b.byteOffset < a.byteOffset + a.byteLength;
}

/** Checks that targets have room for `length` results. */
export function checkRoom(to: Destination, length: number): void {
  if (typeof to === "string") return;
  for (const target of to) {
    if (target.length >= length) continue;
    throw new ValidationError(
      `into has an array of ${target.length} elements for ${length} results.`,
      "Give arrays that are at least as long as the results.",
    );
  }
}

/** Results as the caller gets them: columns as they are, and of pinned targets their elements. */
export function placed<T extends ElementType, P extends Placement>(
  result: Output<T> | null,
  length: number,
): Placed<T, P> {
  const columns = columnsOf(result as ColumnOutput | readonly ColumnOutput[] | null);
  const isList = Array.isArray(result);
  const given = columns.map((column) => placedColumn(column, length));
  return (isList ? given : (given[0] ?? null)) as Placed<T, P>;
}

/**
 * A result column as the caller gets it: of a pinned target its elements, once the call has given it back. There are
 * none when the caller has destroyed it, or made another call with it: as in a view of a buffer that was detached.
 */
function placedColumn(result: ColumnOutput, length: number): ScalarArrays[ScalarType] | DeviceArray {
  if (result instanceof DeviceArray) return result.freeWhenDropped();
  if (!(result instanceof PinnedArray)) return result;
  const gone = result.destroyed || result.inUse;
  return gone ? allocate(result.type, 0) : firstOf(result.array, length);
}

/** Frees results that are on the device. */
export function discard(results: readonly unknown[]): void {
  for (const result of results.flat()) if (result instanceof DeviceArray) result.destroy();
}

/**
 * Tells the plan of a call that is done, and answers. When telling throws, nobody gets the results, so they are freed.
 */
export function answered<T extends object>({ onPlan, log }: Call, answer: T): T {
  try {
    if (log) onPlan?.(log.finish());
    return answer;
  } catch (error) {
    discard(Object.values(answer));
    throw error;
  }
}
