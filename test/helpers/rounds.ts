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

/**
 * Cases of a product of options: in `npm test` those that hold each value of each option at least once, which a test
 * chooses; in `npm run test:long` all.
 */
export function covering<C>(cases: readonly C[], isTaken: (each: C, number: number) => boolean): C[] {
  return cases.filter((each, i) => isLong() || isTaken(each, i));
}
