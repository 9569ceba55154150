/**
 * Argument checks that all containers share. They run before anything is queued or changed, so a ValidationError
 * always means that nothing happened.
 */
import { DeviceArray } from "../engine/device-array.js";
import type { CallOptions, Engine, Input, Placement, Target } from "../engine/engine.js";
import { type HashName, hashNames } from "../engine/hash.js";
import { MAX_SLOTS, slotsFor, type TableSpec } from "../engine/layout.js";
import { PinnedArray, type PinnedUse } from "../engine/pinned-array.js";
import { checkStrategy, type GroupSize, type Plan, PlanLog, type Strategy } from "../engine/plan.js";
import {
  type ElementOf,
  type KeyType,
  type ScalarArrays,
  type ScalarType,
  scalarTypeOf,
  scalarWords,
  type ValueType,
  zeroOf,
} from "../engine/scalars.js";
import { isWide, slotFormat } from "../engine/slot-format.js";
import { LimitError, ValidationError } from "../errors.js";

/** Options of every bulk call. */
export interface BulkOptions<E extends boolean = boolean> {
  /** One byte per element: elements whose byte is 0 are left out. A Uint8Array, device array or pinned array of the keys' length. */
  where?: Input<"u8">;
  /** Aborts between chunks: the call rejects with the signal's reason; chunks already done stay done. */
  signal?: AbortSignal;
  /** Told between chunks, and at the end, how many of the call's elements are done. */
  onProgress?: (done: number, total: number) => void;
  /** How the engine goes about the batch. Default `auto`, or what openDevice was told. Results are the same. */
  strategy?: Strategy;
  /** Slots that a probe of the direct strategy looks at in one step. Default: by the table's load. */
  groupSize?: GroupSize;
  /** Answer a `plan` as well: the strategy taken, why, and the time of each phase. Costs a little time. */
  explain?: E;
}

/** What a call answers: with `explain: true`, its plan as well. */
export type Explained<T, E extends boolean> = E extends true ? T & { plan: Plan } : T;

/** Where a call leaves its results: typed arrays on the host (default), or device arrays. */
export interface OutputOption<P extends Placement> {
  output?: P;
}

/** Arrays for a call's results, in place of new ones. */
export interface IntoOption<I> {
  /**
   * Where results are written, from the first element on: typed arrays, whose memory is there already, or pinned arrays for
   * "readback", which the device writes itself. None of them may be an input of the call, nor share memory with another. The answer
   * is these arrays (of pinned ones, their new `array`), as views of the result's length where they are longer. What lies behind the
   * results is unspecified in pinned arrays, and so is all of them when the call fails. Not together with `output: "device"`.
   */
  into?: I;
}

/** Options of find, whose results are of type V (the values' type; in sets the keys'). */
export interface FindOptions<
  P extends Placement,
  E extends boolean = boolean,
  V extends ValueType = ValueType,
> extends BulkOptions<E>,
    OutputOption<P> {
  /** Value written for keys that are not there, and for elements left out by `where`: a bigint for u64. Default 0. */
  missing?: ElementOf<V>;
}

/** A result column by placement. */
export type Placed<T extends ScalarType, P extends Placement> = P extends "device"
  ? DeviceArray<T>
  : ScalarArrays[T];

/** Options that size and shape a table. */
export interface TableOptions<K extends KeyType> {
  /** Type of the keys. */
  key: K;
  /** Distinct keys that are guaranteed to fit. A whole number of at least 0. */
  capacity: number;
  /** Entries per slot when `capacity` keys are in, 0 < maxLoadFactor <= 1. Default 0.5. The table has ceil(capacity / maxLoadFactor) slots. */
  maxLoadFactor?: number;
  /** Hash function. Default `murmur3`. */
  hash?: HashName;
}

const tableTypes: readonly string[] = Object.keys(scalarWords);

/** Checks a key or value type. */
export function checkType(name: string, type: unknown): void {
  if (typeof type !== "string" || !tableTypes.includes(type)) {
    throw new ValidationError(
      `There is no ${name} type "${String(type)}".`,
      `Use one of ${tableTypes.join(", ")}.`,
    );
  }
}

/** Checks what a look-up writes for absent keys, and answers it: zero unless told. */
export function checkMissing<V extends ValueType>(type: V, missing: unknown): ElementOf<V> {
  const zero = zeroOf[type];
  if (missing === undefined) return zero;
  if (typeof missing !== typeof zero) {
    throw new ValidationError(
      `missing is not a ${typeof zero}.`,
      `Give the ${typeof zero} that stands for absent keys${typeof zero === "bigint" ? ", such as 0n" : ""}.`,
    );
  }
  return missing as ElementOf<V>;
}

/** What to do in place of operations that 32-bit atomics cannot do on wide slots. */
const insteadOf = {
  insertOrAssign: "Erase the keys, then insert the pairs.",
  insertOrApply: "Find the old values, combine them, erase the keys, then insert the pairs.",
  insertAndFind: "Use contains before insert and find after it.",
} as const;

/** Checks that an operation is there for tables of this format: it is the same on every engine. */
export function checkOffered(operation: keyof typeof insteadOf, spec: TableSpec): void {
  if (!isWide(slotFormat(spec))) return;
  throw new ValidationError(
    `${operation} takes keys and values of 32 bits, and this table has ${spec.value === null ? "" : `${spec.value} values and `}${spec.key} keys.`,
    insteadOf[operation],
  );
}

/** Checks the sizing options and answers the number of slots. */
export function checkTableOptions(options: Omit<TableOptions<KeyType>, "key">): {
  slots: number;
  maxLoadFactor: number;
  hash: HashName;
} {
  const { capacity, maxLoadFactor = 0.5, hash = "murmur3" } = options;
  if (!(typeof maxLoadFactor === "number" && maxLoadFactor > 0 && maxLoadFactor <= 1)) {
    throw new ValidationError(
      `maxLoadFactor is ${describe(maxLoadFactor)}.`,
      "Give a number above 0 and at most 1.",
    );
  }
  if (!hashNames.includes(hash)) {
    throw new ValidationError(
      `There is no hash function "${String(hash)}".`,
      `Use one of ${hashNames.join(", ")}.`,
    );
  }
  if (!(Number.isSafeInteger(capacity) && capacity >= 0)) {
    throw new ValidationError(
      `capacity is ${describe(capacity)}.`,
      "Give the number of distinct keys, a whole number of at least 0.",
    );
  }
  const slots = slotsFor(capacity, maxLoadFactor);
  if (slots > MAX_SLOTS) {
    throw new LimitError("slots", slots, MAX_SLOTS, "Split the data over several tables.");
  }
  return { slots, maxLoadFactor, hash };
}

/**
 * Checks one column: a typed array of `type`, or a living pinned array of `type` and `use` on this engine; for an input also
 * such a device array. @internal
 */
export function checkColumn<T extends ScalarType>(
  engine: Engine,
  name: string,
  type: T,
  column: Input<T> | Target<T>,
  use: PinnedUse = "upload",
): void {
  const onHost = !isPlaced(column);
  const have = onHost ? scalarTypeOf(column) : column.type;
  const isInput = use === "upload";
  if (have !== type || (column instanceof DeviceArray && !isInput)) {
    const other = isInput ? "device array" : "pinned array";
    throw new ValidationError(
      `${name} must be a ${typedArrayName[type]} or a ${other} of ${type}, and is ${describe(column)}.`,
      `Give ${name} as ${type}, for example by ${typedArrayName[type]}.from().`,
    );
  }
  if (onHost) return;
  if (column.engine !== engine) {
    throw new ValidationError(
      `${name} lives on another device.`,
      "Upload it to this container's device, or read() it first.",
    );
  }
  if (column.destroyed) {
    throw new ValidationError(`${name} was destroyed.`, "Destroy an array only after its last use.");
  }
  if (column instanceof DeviceArray) return;
  if (column.use !== use) {
    throw new ValidationError(
      `${name} is a pinned array for "${column.use}".`,
      `Make it with device.pinned("${type}", length, "${use}").`,
    );
  }
  if (!isInput && column.inUse) {
    throw new ValidationError(
      `${name} is in use by another call.`,
      "Await that call first, or give each call an array of its own.",
    );
  }
}

/** True for arrays that belong to a device. */
export function isPlaced(column: unknown): column is DeviceArray | PinnedArray {
  return column instanceof DeviceArray || column instanceof PinnedArray;
}

/** What a wrong argument is, in words. */
export function describe(value: unknown): string {
  if (isPlaced(value))
    return `a ${value instanceof DeviceArray ? "device" : "pinned"} array of ${value.type}`;
  if (typeof value === "string") return JSON.stringify(value);
  if (typeof value !== "object" || value === null) return String(value);
  return `a ${value.constructor?.name ?? "object"}`;
}

const typedArrayName: { readonly [T in ScalarType]: string } = {
  u8: "Uint8Array",
  u32: "Uint32Array",
  i32: "Int32Array",
  f32: "Float32Array",
  u64: "BigUint64Array",
};

/** Checks that a column has one element per key. */
export function checkLength(name: string, column: { length: number }, keys: { length: number }): void {
  if (column.length !== keys.length) {
    throw new ValidationError(
      `${name} has ${column.length} elements and keys has ${keys.length}.`,
      "Give one element per key.",
    );
  }
}

/** Checks the options of a bulk call over `keys`. @internal */
export function checkBulkOptions(
  engine: Engine,
  keys: { length: number },
  options: BulkOptions & { output?: Placement },
): CallOptions {
  const { where, signal, onProgress, output, explain } = options;
  const { strategy = engine.defaults.strategy, groupSize = engine.defaults.groupSize } = options;
  if (where !== undefined) {
    checkColumn(engine, "where", "u8", where);
    checkLength("where", where, keys);
  }
  if (output !== undefined && output !== "host" && output !== "device") {
    throw new ValidationError(`There is no output "${String(output)}".`, 'Use "host" or "device".');
  }
  checkStrategy({ strategy, groupSize });
  return { where, signal, onProgress, strategy, groupSize, log: explain ? new PlanLog() : undefined };
}

/** A finished call's answer, with its plan where that was asked for. */
export function explained<T extends object, E extends boolean>(
  _options: { explain?: E },
  { log }: CallOptions,
  answer: T,
): Explained<T, E> {
  return (log ? { ...answer, plan: log.finish() } : answer) as Explained<T, E>;
}
