/** What the view Code and the worker that runs a program say to each other. */

export interface ProgramRequest {
  /** With imports that the worker can load (rewrite.ts). */
  readonly source: string;
  /** What `process.argv` has behind the program's name. */
  readonly args: readonly string[];
  readonly name: string;
}

export type ProgramMessage =
  | { readonly kind: "output"; readonly level: "log" | "error"; readonly text: string }
  | { readonly kind: "error"; readonly text: string; readonly line: number | null }
  | { readonly kind: "done"; readonly ms: number };
