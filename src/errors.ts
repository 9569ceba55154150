/**
 * Every error warpmap throws on purpose: a class, a stable `code`, the numbers, and one `fix` sentence.
 * Aborted calls are not here: they reject with the signal's own `reason`, as fetch does.
 */

/** Codes of all errors. CLUSTER is of warpmap-cluster. */
export type ErrorCode =
  | "CAPACITY"
  | "BACKEND_UNAVAILABLE"
  | "DEVICE_LOST"
  | "LIMIT"
  | "VALIDATION"
  | "ENGINE"
  | "FILE"
  | "FORMAT"
  | "CALL"
  | "CLUSTER";

/** Base of all errors of this library. `code` never changes between releases; `fix` says what to do. */
export class WarpmapError extends Error {
  /** Stable machine-readable name of the error, such as `"CAPACITY"`; one for each class. */
  readonly code: ErrorCode;
  /** What is wrong: the message without the fix. */
  readonly problem: string;
  /** One sentence that says what the caller can do about it. */
  readonly fix: string;

  constructor(code: ErrorCode, problem: string, fix: string, options?: ErrorOptions) {
    super(`${problem} ${fix}`, options);
    this.name = nameOf(code);
    this.code = code;
    this.problem = problem;
    this.fix = fix;
  }
}

/**
 * The name of the class that has a code: BackendUnavailableError of BACKEND_UNAVAILABLE. Bundlers shorten the names of
 * classes, so that a class's own name is `s` in a page.
 */
function nameOf(code: ErrorCode): string {
  return `${code.toLowerCase().replace(/(?:^|_)(.)/g, (_, first) => first.toUpperCase())}Error`;
}

/** A table has no free slot for some keys of a batch. All other keys of the batch went in. */
export class CapacityError extends WarpmapError {
  declare readonly code: "CAPACITY";
  /** Keys (of multimaps and multisets, entries) of this call that were newly inserted. */
  readonly inserted: number;
  /** Keys of this call that found no slot, or entries that did not fit; keys equal to each other count each time. */
  readonly rejected: number;
  /** The capacity that the table was created with, in entries. */
  readonly capacity: number;

  /** @param text in place of what maps and sets say */
  constructor(
    numbers: { inserted: number; rejected: number; capacity: number; slots: number },
    text = {
      message: `The table is full: ${numbers.inserted} keys went in, ${numbers.rejected} did not fit (capacity ${numbers.capacity} entries, all ${numbers.slots} slots taken).`,
      fix: "Create the table with a larger capacity; or make room with rehash(n), and insert the keys that contains() does not find: all others are done.",
    },
  ) {
    super("CAPACITY", text.message, text.fix);
    this.inserted = numbers.inserted;
    this.rejected = numbers.rejected;
    this.capacity = numbers.capacity;
  }
}

/** One engine that `openDevice` looked at, and why it did not take it. */
export interface TriedBackend {
  backend: string;
  reason: string;
}

/** The backend that was asked for is not there. No other one is used in its place. */
export class BackendUnavailableError extends WarpmapError {
  declare readonly code: "BACKEND_UNAVAILABLE";
  readonly tried: readonly TriedBackend[];

  constructor(backend: string, tried: readonly TriedBackend[], fix: string, options?: ErrorOptions) {
    const reasons = tried.map((t) => `${t.backend}: ${t.reason}`).join("; ");
    super("BACKEND_UNAVAILABLE", `Backend "${backend}" is not available (${reasons}).`, fix, options);
    this.tried = tried;
  }
}

/** The GPU device is gone: lost by the driver, or destroyed while the call ran. */
export class DeviceLostError extends WarpmapError {
  declare readonly code: "DEVICE_LOST";
  /** `"destroyed"` when somebody called destroy, `"unknown"` for a loss by driver or system. */
  readonly reason: string;

  constructor(reason: string, detail: string) {
    super(
      "DEVICE_LOST",
      `The device is lost (${reason})${detail ? `: ${detail}` : ""}.`,
      "Open a new device and build its tables again; data on the lost device is gone.",
    );
    this.reason = reason;
  }
}

/** Something needs more than the device or the format allows. */
export class LimitError extends WarpmapError {
  declare readonly code: "LIMIT";
  /** Name of the limit: a WebGPU limit, `"memory"`, `"rows"`, `"slots"`, `"blocks"`, or the option `"maxBytes"`. */
  readonly limit: string;
  /** What the call needs, in the limit's unit. */
  readonly need: number;
  /** What the device has or the option allows, in the same unit. NaN when the device does not say. */
  readonly have: number;

  constructor(limit: string, need: number, have: number, fix: string, options?: ErrorOptions) {
    const has = Number.isNaN(have) ? "the device has less" : `the most is ${have}`;
    super("LIMIT", `Limit ${limit}: this needs ${need}, ${has}.`, fix, options);
    this.limit = limit;
    this.need = need;
    this.have = have;
  }
}

/** An argument is wrong. Nothing was changed. */
export class ValidationError extends WarpmapError {
  declare readonly code: "VALIDATION";
  constructor(message: string, fix: string, options?: ErrorOptions) {
    super("VALIDATION", message, fix, options);
  }
}

/**
 * Bytes or a file that are not what they should be: of another format, of a newer version, or damaged. Nothing was
 * changed.
 */
export class FormatError extends WarpmapError {
  declare readonly code: "FORMAT";
  constructor(message: string, fix: string, options?: ErrorOptions) {
    super("FORMAT", message, fix, options);
  }
}

/** A kernel or a command was refused or failed inside the engine: a bug of warpmap or of the driver. */
export class EngineError extends WarpmapError {
  declare readonly code: "ENGINE";
  constructor(message: string, options?: ErrorOptions) {
    super(
      "ENGINE",
      message,
      "Please report this with the output of `warpmap devices` and the call that led here.",
      options,
    );
  }
}
