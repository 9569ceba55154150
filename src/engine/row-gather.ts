/**
 * Gathering columns by row numbers, part of the seam: what relational operators ask of an engine to build their results.
 * As the row join, it is a function beside the engine. Columns and results are in host memory, so an engine without
 * threads of its own leaves it to the calling thread.
 */
import type { BackendName, Engine } from "./engine.js";
import { type GatherTask, gatherBuffers } from "./gather-buffers.js";

/** Runs tasks; answers the buffers of each. `pause` lets the event loop run, and throws to stop. */
type Gather = (
  engine: Engine,
  tasks: readonly GatherTask[],
  pause: () => Promise<void>,
) => Promise<readonly (readonly ArrayBuffer[])[]>;

const implementations: { readonly [B in BackendName]: () => Promise<Gather> } = {
  cpu: async () => (await import("./cpu/rows/cpu-join.js")).gatherOn,
  webgpu: async () => (_, tasks, pause) => gatherHere(tasks, pause),
};

/** Runs tasks on an engine's threads. @throws LimitError when strings outgrow their offsets */
export const gatherTasks: Gather = async (engine, tasks, pause) => {
  const gather = await implementations[engine.info.backend]();
  return gather(engine, tasks, pause);
};

/** Runs tasks on the calling thread. */
export async function gatherHere(
  tasks: readonly GatherTask[],
  pause: () => Promise<void>,
): Promise<readonly (readonly ArrayBuffer[])[]> {
  const made: ArrayBuffer[][] = [];
  for (const task of tasks) {
    made.push(gatherBuffers(task));
    await pause();
  }
  return made;
}
