/** What a command has around it: the process, or a test in its place. Commands touch no global of Node's but this. */

/** A stream to print to; on a terminal it also knows its width. */
export interface Output extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export interface Host {
  /** What a command reads that is told to read "-". */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Results, and nothing else. */
  readonly stdout: Output;
  /** Errors, progress and notes. */
  readonly stderr: Output;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted when the user interrupts the command. */
  readonly signal: AbortSignal;
  /** Called by a command that ends its work when it is interrupted: it is given the time that takes, and has not failed. */
  readonly drain?: () => void;
}

/** Whether to print colours and other styles to a stream (https://no-color.org). */
export function isStyled(output: Output, env: Host["env"]): boolean {
  return output.isTTY === true && !env.NO_COLOR && env.TERM !== "dumb";
}

/** Columns to print into: no limit for files and pipes, 80 for a terminal that does not say. */
export function widthOf({ columns, isTTY }: Output): number {
  if (columns === undefined && isTTY !== true) return Number.POSITIVE_INFINITY;
  return columns || 80;
}
