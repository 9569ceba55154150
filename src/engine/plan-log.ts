/** What an engine notes while it runs a call that is asked for its plan. Loaded by the first such call. */
import type { ChunkPlan, Plan } from "./plan.js";

const NOTHING: ChunkPlan = {
  strategy: "direct",
  reason: "there was nothing to do",
  groupSize: 1,
  partitions: 1,
  pages: 0,
};

/** Filled in by an engine while a call runs. */
export class PlanLog {
  clock: Plan["clock"] = "host";
  readonly #chunks: ChunkPlan[] = [];
  readonly #phases = new Map<string, number>();
  readonly #remarks: string[] = [];
  #start = 0;

  /** The call's work begins: time in a queue before it does not count. */
  begin(): void {
    this.#start = performance.now();
  }

  /** A chunk's work begins. */
  beginChunk(plan: Partial<ChunkPlan> = {}): void {
    this.#chunks.push({ ...NOTHING, ...plan });
  }

  /** Corrects the plan of the chunk that was begun last, when it was worked on otherwise. */
  correctChunk(plan: Partial<ChunkPlan>): void {
    this.#chunks.push({ ...NOTHING, ...this.#chunks.pop(), ...plan });
  }

  /** Adds to the reason of every chunk, also of those that are still to come. */
  remark(text: string): void {
    this.#remarks.push(text);
  }

  /** Adds time to a phase. */
  add(name: string, milliseconds: number): void {
    this.#phases.set(name, (this.#phases.get(name) ?? 0) + milliseconds);
  }

  /** The plan of a call that has ended. */
  finish(): Plan {
    const milliseconds = performance.now() - this.#start;
    const phases = [...this.#phases].map(([name, milliseconds]) => ({ name, milliseconds }));
    const all = this.#chunks.map((chunk) => ({
      ...chunk,
      reason: [chunk.reason, ...this.#remarks].join("; "),
    }));
    const chunks = all.length;
    const last = all.at(-1) ?? NOTHING;
    return {
      ...last,
      chunks,
      strategies: countStrategies(all),
      phases,
      clock: this.clock,
      milliseconds,
    };
  }
}

function countStrategies(chunks: readonly ChunkPlan[]): Plan["strategies"] {
  const counted = new Map<string, ChunkPlan & { chunks: number }>();
  for (const plan of chunks) {
    const { strategy, reason, groupSize, partitions, pages } = plan;
    const key = [strategy, reason, groupSize, partitions, pages].join("\n");
    const entry = counted.get(key) ?? { ...plan, chunks: 0 };
    counted.set(key, entry);
    entry.chunks++;
  }
  return [...counted.values()];
}
