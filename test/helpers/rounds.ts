/** How many rounds randomised tests run: few in `npm test`, many in `npm run test:long`. */
import { inject } from "vitest";

/** True in `npm run test:long`. */
export const isLong = () => inject("long");

const LONG_FACTOR = 20;

/** Rounds of a test that runs `short` of them in `npm test`. */
export function rounds(short: number): number {
  return isLong() ? LONG_FACTOR * short : short;
}
