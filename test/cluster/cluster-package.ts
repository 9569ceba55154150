/** The built package, whose worker processes are programs of their own. */
import type * as Package from "../../packages/cluster/src/index.js";

export async function clusterPackage(): Promise<typeof Package> {
  const path = new URL("../../packages/cluster/dist/index.js", import.meta.url).href;
  return (await import(/* @vite-ignore */ path)) as typeof Package;
}

/** Amounts that make many jobs of small files. */
export const SMALL = { leastUnit: 2000, mostUnit: 4000, smallSide: 500, leastJob: 3000 };
