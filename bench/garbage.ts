/** Garbage collected between runs of contestants that leave much of it. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/**
 * Results of earlier runs must not be in memory when the next is timed, on neither side. The collector frees large buffers
 * in the background, so it gets a moment.
 */
export async function collectGarbage(): Promise<void> {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  await new Promise((resolve) => setTimeout(resolve, FREEING_MS));
}

const FREEING_MS = 50;
