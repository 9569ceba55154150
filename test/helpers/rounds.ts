/** How many rounds randomised tests run: few in `npm run test:quick`, more in `npm test`, many in `npm run test:long`. */
import { inject } from "vitest";

/** True in `npm run test:long`. */
export const isLong = () => inject("long");

const LONG_FACTOR = 20;

/** Rounds of a test that runs `short` of them in `npm test`. */
export function rounds(short: number): number {
  if (inject("quick")) return Math.ceil(short / 4);
  return isLong() ? LONG_FACTOR * short : short;
}
