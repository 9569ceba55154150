/** How many threads work on a file. */
import { machineThreads } from "../../threads/runtime.js";

/** More threads than that are not waited for by one file's reader: the calling thread hands out and puts together all pieces. */
const MOST = 8;

/** As many as the options ask for; without, as many as the machine runs at once, up to a bound. */
export function threadsOf({ threads }: { readonly threads?: number }): number {
  return threads ?? Math.min(MOST, machineThreads());
}
