/** How much a test does: `npm run test:long` sets WARPMAP_LONG=1 for more of it. */

/** True in long runs. */
export const LONG = process.env.WARPMAP_LONG === "1";

/** A number of cases: `short` in a normal run, `long` in a long one. */
export function cases(short: number, long: number): number {
  return LONG ? long : short;
}
