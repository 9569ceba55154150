/** The engines that a reader can choose, and what a worker says of the one that it opened. */
import { counted, select } from "./dom.js";

/** Which engine to open: `software` is a GPU that the CPU emulates. */
export type EngineChoice = "auto" | "webgpu" | "software" | "cpu";

export interface EngineFacts {
  readonly backend: string;
  readonly name: string;
  readonly threads: number;
  readonly reason: string;
}

const ENGINES = [
  ["auto", "automatic"],
  ["webgpu", "WebGPU"],
  ["software", "WebGPU, emulated by the CPU"],
  ["cpu", "CPU"],
] as const;

/** A list of engines. @param asked the one to begin with, if it is one */
export function engineSelect(asked: string | null): HTMLSelectElement {
  return select(ENGINES, { value: asked ?? "auto", "aria-label": "Engine" });
}

export function engineText({ backend, name, threads, reason }: EngineFacts): string {
  const what = backend === "cpu" ? `cpu, ${counted(threads, "thread")}` : `${backend}, ${name}`;
  return `Runs on ${what}. ${reason}`;
}
