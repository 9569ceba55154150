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
  WarpmapError,
} from "../../errors.js";
import { FileError } from "../errors.js";

/** An error as data that can be posted. */
export type CarriedError =
  | { readonly kind: Kind; readonly message: string; readonly stack?: string; readonly fields: Fields }
  /** What was thrown is no error. */
  | { readonly kind: "value"; readonly value: string };
type Kind = "Error" | "TypeError" | "RangeError" | WarpmapError["code"];
type Fields = readonly (readonly [name: string, value: unknown])[];

/** By code, which each has one of. Those of calls are the command line's own. */
const CLASSES: Partial<Record<Kind, { readonly prototype: WarpmapError }>> = {
  FILE: FileError,
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
  if (!(error instanceof Error)) return { kind: "value", value: String(error) };
  const fields: [string, unknown][] = [];
  for (const [name, value] of Object.entries(error)) {
    if (typeof value !== "function" && typeof value !== "symbol") fields.push([name, value]);
  }
  // neither is enumerable, and `cause` may be no error
  if ("cause" in error) fields.push([CAUSE, error.cause === undefined ? undefined : carried(error.cause)]);
  return { kind: kindOf(error), message: error.message, stack: error.stack, fields };
}

const CAUSE = "cause";

function kindOf(error: Error): Kind {
  if (error instanceof WarpmapError) return error.code;
  if (error instanceof TypeError) return "TypeError";
  return error instanceof RangeError ? "RangeError" : "Error";
}

/** The error again. */
export function restored(from: CarriedError): unknown {
  if (from.kind === "value") return from.value;
  const { kind, message, stack, fields } = from;
  const Plain = kind === "TypeError" ? TypeError : kind === "RangeError" ? RangeError : Error;
  const error = new Plain(message) as Error & Record<string, unknown>;
  Object.defineProperty(error, "stack", { value: stack, writable: true, configurable: true });
  const own = CLASSES[kind];
  if (own !== undefined) Object.setPrototypeOf(error, own.prototype);
  for (const [name, value] of fields) {
    if (name !== CAUSE) error[name] = value;
    else
      Object.defineProperty(error, CAUSE, {
        value: value && restored(value as CarriedError),
        writable: true,
        configurable: true,
      });
  }
  return error;
}
