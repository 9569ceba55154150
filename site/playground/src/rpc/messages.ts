/** What a page and its workers send each other: calls with numbers, their progress, their answers. */

export type Request =
  | { readonly id: number; readonly method: string; readonly argument: unknown }
  | { readonly id: number; readonly cancel: true };

export type Reply =
  | { readonly id: number; readonly progress: unknown }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: ErrorRecord };

/** An error on its way between threads. */
export interface ErrorRecord {
  readonly name: string;
  readonly message: string;
  /** Of warpmap's own errors. */
  readonly code?: string;
}

/** An error that a worker answered. */
export class WorkerFailure extends Error {
  readonly code?: string;

  constructor({ name, message, code }: ErrorRecord) {
    super(message);
    this.name = name;
    this.code = code;
  }
}
