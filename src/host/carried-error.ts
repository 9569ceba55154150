/**
 * Errors on their way between threads. A copy of an error, as the platform makes it, has lost its class and its fields: here those
 * of warpmap keep both, and others their message, cause and fields, and whether they are a TypeError or a RangeError.
 */
import {
  BackendUnavailableError,
  CapacityError,
  DeviceLostError,
  EngineError,
  FormatError,
  LimitError,
  ValidationError,
  type WarpmapError,
} from "../errors.js";

/** An error as data that can be posted. */
export type CarriedError =
  | { readonly kind: string; readonly message: string; readonly stack?: string; readonly fields: Fields }
  /** What was thrown is no error. */
  | { readonly value: string };
type Fields = readonly (readonly [name: string, value: unknown])[];

/** Classes of errors by code, which each has one of. */
export type ErrorClasses = { readonly [code: string]: { readonly prototype: WarpmapError } };

/** Those of every task. */
const CLASSES: ErrorClasses = {
  CAPACITY: CapacityError,
  BACKEND_UNAVAILABLE: BackendUnavailableError,
  DEVICE_LOST: DeviceLostError,
  LIMIT: LimitError,
  VALIDATION: ValidationError,
  ENGINE: EngineError,
  FORMAT: FormatError,
};

/** An error as data. */
export function carried(error: unknown): CarriedError {
  if (!(error instanceof Error)) return { value: String(error) };
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(error)) {
    if (typeof value !== "function" && typeof value !== "symbol") fields.push([name, value]);
  }
  // neither is enumerable, and `cause` may be no error
  if ("cause" in error) fields.push([CAUSE, error.cause === undefined ? undefined : carried(error.cause)]);
  return { kind: kindOf(error), message: error.message, stack: error.stack, fields };
}

const CAUSE = "cause";

/** Scripts of workers have classes of their own, so errors of warpmap are known by their codes. */
function kindOf(error: Error): string {
  if (error instanceof TypeError) return "TypeError";
  if (error instanceof RangeError) return "RangeError";
  return (error as Partial<WarpmapError>).code ?? "Error";
}

/** The error again. @param more classes that errors of the task may have besides those of every task */
export function restored(from: CarriedError, more?: ErrorClasses): unknown {
  if ("value" in from) return from.value;
  const { kind, message, stack, fields } = from;
  const Plain = kind === "TypeError" ? TypeError : kind === "RangeError" ? RangeError : Error;
  const error = new Plain(message) as Error & Record<string, unknown>;
  Object.defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
  const own = CLASSES[kind] ?? more?.[kind];
  if (own !== undefined) Object.setPrototypeOf(error, own.prototype);
  for (const [name, value] of fields) {
    if (name !== CAUSE) error[name] = value;
    else
      Object.defineProperty(error, CAUSE, {
        value: value && restored(value as CarriedError, more),
        writable: true,
        configurable: true,
      });
  }
  return error;
}
