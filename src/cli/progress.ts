/** Progress bars: on stderr, on a terminal only, gone when their stage is done. By the package cli-progress. */
import type { Format } from "../io/formats.js";
import type { Host } from "./host.js";
import { grouped } from "./text.js";

/** Reports that a part of the work is done. `more`: what is said behind the amount. */
export type Report = (done: number, total: number, more?: string) => void;

/** What is counted: rows, values of columns, bytes, or parts of the work. */
export type Unit = "rows" | "values" | "bytes" | "parts";

/** What reading a format counts. */
export function readUnit(format: Format): Unit {
  return format === "parquet" ? "values" : "bytes";
}

/** What writing a format counts. */
export function writeUnit(format: Format): Unit {
  return format === "arrow" ? "bytes" : "rows";
}

/** "1,200 of 5,000 rows", "12.3 of 40.0 MB". */
export function amountText(done: number, total: number, unit: Unit): string {
  if (unit !== "bytes") return `${grouped(done)} of ${grouped(total)} ${unit}`;
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  return `${megabytes(done)} of ${megabytes(total)} MB`;
}

/** To the start of the line, and all of it away (ECMA-48). */
const CLEAR_LINE = "\r\u001b[2K";

/** Between two changes of a line without a bar. */
const STEP_MS = 100;

/** The bar of one stage at a time. */
export interface Progress {
  /** Starts the bar of a stage, in place of what was there before. */
  stage(label: string, unit: Unit): Report;
  /** Says what is being done, where nobody knows how much of it there is; what it answers says how much is done. */
  step(label: string): (amount: string) => void;
  /** Takes the bar away. Idempotent. */
  stop(): void;
}

/** A bar, or nothing at all where there is no terminal or `quiet` is asked for. */
export async function openProgress({ stderr }: Host, quiet: boolean): Promise<Progress> {
  if (quiet || stderr.isTTY !== true) return { stage: () => () => {}, step: () => () => {}, stop: () => {} };
  const { SingleBar, Presets } = await import("cli-progress");
  const bar = new SingleBar(
    {
      stream: stderr,
      format: "{label} {bar} {percentage}%  {amount}",
      barsize: 20,
      clearOnComplete: true,
      hideCursor: true,
      linewrap: null,
    },
    Presets.shades_classic,
  );
  let stepShown = false;
  const stop = () => {
    bar.stop();
    if (stepShown) stderr.write(CLEAR_LINE);
    stepShown = false;
  };
  return {
    stage(label, unit) {
      stop();
      bar.start(1, 0, { label: label.padEnd(12), amount: "" });
      return (done, total, more = "") => {
        bar.setTotal(Math.max(1, total));
        bar.update(done, { amount: `${amountText(done, total, unit)}${more}` });
      };
    },
    step(label) {
      stop();
      stderr.write(`${label} …`);
      stepShown = true;
      let shown = performance.now();
      return (amount) => {
        const now = performance.now();
        if (!stepShown || now - shown < STEP_MS) return;
        shown = now;
        stderr.write(`${CLEAR_LINE}${label} … ${amount}`);
      };
    },
    stop,
  };
}
