/**
 * Argument checks that all containers share. They run before anything is queued or changed, so a ValidationError
 * always means that nothing happened.
 */
import { DeviceArray } from "../engine/device-array.js";
import {
  type ArraysOf,
  type ElementOf,
  type ElementType,
  lengthOf,
  typeName,
  type ValueType,
} from "../engine/element-types.js";
import type {
  CallOptions,
  ColumnInput,
  ColumnTarget,
  Engine,
  Input,
  Missing,
  Placement,
} from "../engine/engine.js";
import type { PinnedUse } from "../engine/pinned-array.js";
import { checkStrategy, type GroupSize, type Plan, type Strategy } from "../engine/plan.js";
import type { PlanLog } from "../engine/plan-log.js";
import {
  allocate,
  arrayClass,
  type Scalar,
  type ScalarType,
  scalarTypeOf,
  zeroOf,
} from "../engine/scalars.js";
import { ValidationError } from "../errors.js";
import {
  check,
  checkAttached,
  checkCallbacks,
  checkOneOf,
  checkOptions,
  checkWhole,
  conversion,
  describe,
  isPlaced,
  type Names,
} from "../options.js";

/** Options of every call that works through many elements. */
export interface ProgressOptions {
  /** Aborts between chunks: the call rejects with the signal's reason; elements already done stay done. */
  signal?: AbortSignal;
  /** Told between chunks, and at the end, how many of the call's elements are done. */
  onProgress?: (done: number, total: number) => void;
  /**
   * Told what the call did: strategy, reason, partitions, the time of each phase. Called once, when the work is done
   * and before the answer comes; not when the call fails. Measuring costs a little time.
   */
  onPlan?: (plan: Plan) => void;
}

/** Which elements of a batch a call is for. */
export interface MaskOption {
  /**
   * One byte per element: elements whose byte is 0 are left out. A Uint8Array, device array or pinned array of the
   * keys' length.
   */
  mask?: Input<"u8">;
  /** The former name of `mask`. @deprecated Write `mask`. */
  where?: Input<"u8">;
}

/** Options of every bulk call over keys. */
export interface BulkOptions extends ProgressOptions, MaskOption {
  /** How the engine works on the batch. Default `auto`, or what openDevice was told. Results do not depend on it. */
  strategy?: Strategy;
  /** Slots that a probe of the direct strategy looks at in one step. Default: by the table's load. */
  groupSize?: GroupSize;
}

/** Options of inserts. */
export interface InsertOptions extends BulkOptions {
  /**
   * Which of equal keys in one batch wins: whose value is inserted, or assigned, and who is told `isNew`. `first` and
   * `last` are the same on every engine, and take longer on a GPU. Default `any`, which on the cpu engine is the first
   * to insert and the last to assign.
   */
  duplicates?: "any" | "first" | "last";
}

/** Where a call leaves its results: typed arrays on the host (default), or device arrays. */
export interface OutputOption<P extends Placement> {
  output?: P;
}

/** Arrays for a call's results, in place of new ones. */
export interface IntoOption<I> {
  /**
   * Where results are written, from the first element on: typed arrays, or pinned arrays for "readback", which the
   * device writes itself. Each is at least as long as its result, is no input of the call, and shares no memory with
   * another. The call answers these arrays (of a pinned one its new `array`), as views of the result's length where
   * they are longer. In pinned arrays the elements behind the result are unspecified, and all elements after a call
   * that failed. Not together with `output: "device"`.
   */
  into?: I;
}

/** Options of find, whose results are of type V (the values' type; in sets the keys'). */
export interface FindOptions<P extends Placement, V extends ValueType = ValueType>
  extends BulkOptions,
    OutputOption<P> {
  /**
   * Value written for keys that are not there, and for elements left out by `mask`: a bigint for u64 and i64, a list
   * for a composite. Default 0.
   */
  missing?: ElementOf<V>;
}

/** Results by placement: a column, or of a composite type a list of columns. */
export type Placed<T extends ElementType, P extends Placement> = P extends "device"
  ? T extends ScalarType
    ? DeviceArray<T>
    : { readonly [I in keyof T]: DeviceArray<T[I] & Scalar> }
  : ArraysOf<T>;

/** Checks what a look-up writes for absent keys, and answers it: zero unless told. */
export function checkMissing(type: ValueType, missing: unknown): Missing {
  if (typeof type === "string") return checkMissingElement(type, missing);
  if (missing !== undefined) checkList("missing", type, missing);
  return type.map((scalar, i) => checkMissingElement(scalar, (missing as unknown[] | undefined)?.[i]));
}

/** Checks that there is something for each column of a composite. */
function checkList(name: string, type: readonly Scalar[], list: unknown): asserts list is unknown[] {
  const isRight = Array.isArray(list) && list.length === type.length;
  check(isRight, name, list, `Give a list for ${typeName(type)}.`);
}

/** The same of a type in one column. @internal */
export function checkMissingElement(type: Scalar, missing: unknown): number | bigint {
  const zero = zeroOf(type);
  if (missing === undefined) return zero;
  const held = allocate(type, 1);
  const isElement = typeof missing === typeof zero;
  if (isElement) held[0] = missing as never;
  // floats may round, but not to infinity
  const holds =
    type === "f32" || type === "f64"
      ? Number.isFinite(held[0]) === Number.isFinite(missing)
      : (held[0] as unknown) === missing;
  check(
    isElement && holds,
    "missing",
    missing,
    `Give a ${typeof zero} that ${type} can hold, such as ${zero}${typeof zero === "bigint" ? "n" : ""}.`,
  );
  return missing as number | bigint;
}

/**
 * Checks elements of a type: one column, or of a composite a list of columns of one length.
 * @param name what the caller has them under @internal
 */
export function checkElements(
  engine: Engine,
  name: string,
  type: ElementType,
  given: unknown,
  use: PinnedUse = "upload",
): void {
  if (typeof type === "string") {
    checkColumn(engine, name, type, given as ColumnInput, use);
    return;
  }
  checkList(name, type, given);
  for (const [i, scalar] of type.entries()) {
    checkColumn(engine, `${name}[${i}]`, scalar, given[i] as ColumnInput, use);
    if (use === "upload")
      checkLength(`${name}[${i}]`, given[i] as ColumnInput, given[0] as ColumnInput, `${name}[0]`);
  }
}

/**
 * Checks one column: a typed array of `type`, or a living pinned array of `type` and `use` on this engine; for an input
 * also such a device array. @internal
 */
export function checkColumn<T extends ScalarType>(
  engine: Engine,
  name: string,
  type: T,
  column: ColumnInput<T> | ColumnTarget<T>,
  use: PinnedUse = "upload",
): void {
  const onHost = !isPlaced(column);
  const { name: typedArray } = arrayClass[type];
  const have = onHost ? scalarTypeOf(column) : column.type;
  const isInput = use === "upload";
  if (have !== type || (column instanceof DeviceArray && !isInput)) {
    const other = isInput ? "device array" : "pinned array";
    throw new ValidationError(
      `${name} must be a ${typedArray} or a ${other} of ${type}, and is ${describe(column)}.`,
      (isInput && conversion(name, typedArray, column)) || `Give a ${typedArray}, or a ${other} of ${type}.`,
    );
  }
  if (onHost) {
    checkAttached(name, column);
    return;
  }
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

/** Checks that there is one element per key. */
export function checkLength(
  name: string,
  elements: Parameters<typeof lengthOf>[0],
  keys: Parameters<typeof lengthOf>[0],
  theirs = "keys",
): void {
  if (lengthOf(elements) !== lengthOf(keys)) {
    throw new ValidationError(
      `${name} has ${lengthOf(elements)} elements and ${theirs} has ${lengthOf(keys)}.`,
      "Give one element per key.",
    );
  }
}

/** Options of `chunks`. */
export interface ChunksOptions {
  /** Entries of each piece. Default 2^20. */
  chunk?: number;
}

/** Checks the options of `chunks`, and answers the entries of a piece, undefined unless told. @internal */
export function checkChunks(options: ChunksOptions): number | undefined {
  checkOptions(options, "chunk");
  const { chunk } = options;
  if (chunk !== undefined) checkWhole("chunk", chunk, 1);
  return chunk;
}

/** A call whose options were checked. @internal */
export interface Call extends Omit<CallOptions, "log" | "checkInputs"> {
  /** There when the call's turn has come, if it is asked for its plan. */
  log?: PlanLog;
  /** There when the call is in the queue. */
  checkInputs?: CallOptions["checkInputs"];
  readonly duplicates?: InsertOptions["duplicates"];
  readonly onPlan?: ProgressOptions["onPlan"];
}

/** Names of ProgressOptions. */
const PROGRESS = "signal onProgress onPlan";

/**
 * Checks the options of a bulk call over `keys`. @param more names of options that it takes beside those of all.
 * @internal
 */
export function checkBulkOptions<
  Options extends InsertOptions & OutputOption<Placement>,
  S extends string = "",
>(
  engine: Engine,
  keys: Input<ElementType> | ColumnInput,
  options: Options,
  more?: S & Names<S, keyof Options>,
): Call {
  const call = checkCallOptions(options, ` mask strategy groupSize${more ?? ""}` as never, "where");
  const where = checkMask(engine, keys, options);
  const { strategy = engine.defaults.strategy, groupSize = engine.defaults.groupSize } = options;
  checkStrategy({ strategy, groupSize });
  return { ...call, where, strategy, groupSize, duplicates: options.duplicates };
}

/** Checks the mask of a call over `keys`, under either name, and answers it. @internal */
export function checkMask(
  engine: Engine,
  keys: Input<ElementType> | ColumnInput,
  { mask, where }: MaskOption,
): Input<"u8"> | undefined {
  if (mask !== undefined && where !== undefined)
    throw new ValidationError("Both mask and where are given.", "Give mask alone: where is its former name.");
  const given = mask ?? where;
  if (given !== undefined) {
    checkColumn(engine, "mask", "u8", given);
    checkLength("mask", given, keys);
  }
  return given;
}

/**
 * Checks the options of a call over all entries.
 * @param more names of options that it takes, each after a space
 * @param former the former name of one of them @internal
 */
export function checkCallOptions<
  Options extends ProgressOptions & OutputOption<Placement>,
  const S extends string,
>(options: Options, more: S & Names<S, keyof Options>, former?: string): Call {
  checkOptions(options, (PROGRESS + more) as never, former as never);
  const { signal, onProgress, onPlan, output = "host" } = options;
  checkCallbacks({ signal, onProgress, onPlan });
  checkOneOf("output", output, ["host", "device"]);
  return { signal, onProgress, onPlan };
}
