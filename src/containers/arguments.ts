/**
 * Argument checks that all containers share. They run before anything is queued or changed, so a ValidationError
 * always means that nothing happened.
 */
import { DeviceArray } from "../engine/device-array.js";
import type { CallOptions, Engine, Input, Placement, Target } from "../engine/engine.js";
import type { TableSpec } from "../engine/layout.js";
import type { PinnedUse } from "../engine/pinned-array.js";
import { checkStrategy, type GroupSize, type Plan, PlanLog, type Strategy } from "../engine/plan.js";
import {
  allocate,
  type ElementOf,
  type ScalarArrays,
  type ScalarType,
  scalarTypeOf,
  type ValueType,
  zeroOf,
} from "../engine/scalars.js";
import { isWide, slotFormat } from "../engine/slot-format.js";
import { ValidationError } from "../errors.js";
import {
  check,
  checkCallbacks,
  checkOneOf,
  checkOptions,
  conversion,
  describe,
  isPlaced,
} from "../options.js";

/** Options of every call that works through many elements. */
export interface ProgressOptions {
  /** Aborts between chunks: the call rejects with the signal's reason; elements already done stay done. */
  signal?: AbortSignal;
  /** Told between chunks, and at the end, how many of the call's elements are done. */
  onProgress?: (done: number, total: number) => void;
  /**
   * Told what the call did: strategy, reason, partitions, the time of each phase. Called once, when the work is done and before
   * the answer comes; not when the call fails. Measuring costs a little time.
   */
  onPlan?: (plan: Plan) => void;
}

/** Options of every bulk call over keys. */
export interface BulkOptions extends ProgressOptions {
  /** One byte per element: elements whose byte is 0 are left out. A Uint8Array, device array or pinned array of the keys' length. */
  where?: Input<"u8">;
  /** How the engine works on the batch. Default `auto`, or what openDevice was told. Results do not depend on it. */
  strategy?: Strategy;
  /** Slots that a probe of the direct strategy looks at in one step. Default: by the table's load. */
  groupSize?: GroupSize;
}

/** Where a call leaves its results: typed arrays on the host (default), or device arrays. */
export interface OutputOption<P extends Placement> {
  output?: P;
}

/** Arrays for a call's results, in place of new ones. */
export interface IntoOption<I> {
  /**
   * Where results are written, from the first element on: typed arrays, or pinned arrays for "readback", which the device writes itself.
   * Each is at least as long as its result, is no input of the call, and shares no memory with another. The call answers these arrays (of
   * a pinned one its new `array`), as views of the result's length where they are longer. In pinned arrays the elements behind the
   * result are unspecified, and all elements after a call that failed. Not together with `output: "device"`.
   */
  into?: I;
}

/** Options of find, whose results are of type V (the values' type; in sets the keys'). */
export interface FindOptions<P extends Placement, V extends ValueType = ValueType>
  extends BulkOptions,
    OutputOption<P> {
  /** Value written for keys that are not there, and for elements left out by `where`: a bigint for u64. Default 0. */
  missing?: ElementOf<V>;
}

/** A result column by placement. */
export type Placed<T extends ScalarType, P extends Placement> = P extends "device"
  ? DeviceArray<T>
  : ScalarArrays[T];

/** Checks what a look-up writes for absent keys, and answers it: zero unless told. */
export function checkMissing<V extends ValueType>(type: V, missing: unknown): ElementOf<V> {
  const zero = zeroOf[type];
  if (missing === undefined) return zero;
  const held = allocate(type, 1);
  const isElement = typeof missing === typeof zero;
  if (isElement) held[0] = missing as never;
  // floats may round, but not to infinity
  const holds =
    type === "f32" ? Number.isFinite(held[0]) === Number.isFinite(missing) : (held[0] as unknown) === missing;
  check(
    isElement && holds,
    "missing",
    missing,
    `Give a ${typeof zero} that ${type} can hold, such as ${zero}${type === "u64" ? "n" : ""}.`,
  );
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
      (isInput && conversion(name, typedArrayName[type], column)) ||
        `Give a ${typedArrayName[type]}, or a ${other} of ${type}.`,
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

/** Options of `entries`. */
export interface EntriesOptions {
  /** Entries of each piece. Default 2^20. */
  chunk?: number;
}

/** A call whose options were checked. @internal */
export interface Call extends CallOptions {
  readonly onPlan?: ProgressOptions["onPlan"];
}

/** Names of ProgressOptions. */
const PROGRESS = "signal onProgress onPlan";

/** Checks the options of a bulk call over `keys`. @param more names of options that it takes beside those of all. @internal */
export function checkBulkOptions(
  engine: Engine,
  keys: { length: number },
  options: BulkOptions & { output?: Placement },
  more = "",
): Call {
  const call = checkCallOptions(options, ` where strategy groupSize${more}`);
  const { where } = options;
  const { strategy = engine.defaults.strategy, groupSize = engine.defaults.groupSize } = options;
  if (where !== undefined) {
    checkColumn(engine, "where", "u8", where);
    checkLength("where", where, keys);
  }
  checkStrategy({ strategy, groupSize });
  return { ...call, where, strategy, groupSize };
}

/** Checks the options of a call over all entries. @param more names of options that it takes, each after a space. @internal */
export function checkCallOptions(options: ProgressOptions & { output?: Placement }, more: string): Call {
  checkOptions(options, PROGRESS + more);
  const { signal, onProgress, onPlan, output = "host" } = options;
  checkCallbacks({ signal, onProgress, onPlan });
  checkOneOf("output", output, ["host", "device"]);
  return { signal, onProgress, onPlan, log: onPlan && new PlanLog() };
}
