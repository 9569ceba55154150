/** The worker that runs one program: its console goes to the page, and so does the error that ends it, with its line. */
import type { ProgramMessage, ProgramRequest } from "../protocol.js";
import { inspect } from "./inspect.js";

/** A program that prints in a loop must not fill the page's memory. */
const MOST_LINES = 5000;

let lines = 0;
let address = "";

const tell = (message: ProgramMessage) => postMessage(message);

function print(level: "log" | "error", text: string): void {
  lines++;
  if (lines <= MOST_LINES) tell({ kind: "output", level, text });
  else if (lines === MOST_LINES + 1) {
    tell({ kind: "output", level: "error", text: `More than ${MOST_LINES} lines: the rest is not shown.` });
  }
}

function takeConsole(): void {
  const join = (values: unknown[]) =>
    values.map((value) => (typeof value === "string" ? value : inspect(value))).join(" ");
  for (const name of ["log", "info", "debug"] as const)
    console[name] = (...values) => print("log", join(values));
  for (const name of ["error", "warn"] as const) console[name] = (...values) => print("error", join(values));
}

/** What programs for Node ask; without `versions`, so that nothing takes the page for Node. */
function makeProcess({ args, name }: ProgramRequest): void {
  const stdout = { write: (text: string) => print("log", text.replace(/\n$/, "")) };
  const process = { argv: ["node", name, ...args], env: {}, platform: "browser", stdout };
  Object.assign(globalThis, { process });
}

function fail(error: unknown): void {
  const known = error instanceof Error;
  const text = known ? `${error.name}: ${error.message}` : `Thrown: ${inspect(error)}`;
  tell({ kind: "error", text, line: known ? lineOf(error) : null });
}

/** The first line of the program that the error's stack names. */
function lineOf({ stack = "" }: Error): number | null {
  const at = stack.indexOf(`${address}:`);
  const [, line] = /^:(\d+)/.exec(at < 0 ? "" : stack.slice(at + address.length)) ?? [];
  return line === undefined ? null : Number(line);
}

addEventListener("unhandledrejection", (event) => {
  event.preventDefault();
  fail(event.reason);
});
addEventListener("error", (event) => {
  event.preventDefault();
  fail(event.error ?? event.message);
});
addEventListener(
  "message",
  async ({ data }: MessageEvent<ProgramRequest>) => {
    takeConsole();
    makeProcess(data);
    address = URL.createObjectURL(new Blob([data.source], { type: "text/javascript" }));
    const start = performance.now();
    try {
      await import(/* @vite-ignore */ address);
      tell({ kind: "done", ms: performance.now() - start });
    } catch (error) {
      fail(error);
    }
  },
  { once: true },
);
