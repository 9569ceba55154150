/** A driver without a GPU: whatever it is asked for succeeds, handles are new numbers, and nothing is done. */
import type { Driver } from "./driver.js";
import { type DriverApi, FUNCTIONS, Result } from "./ffi.js";

/** What handles, which are addresses too, are apart. */
const APART = 2 ** 40;

export function dryDriver(): Driver {
  let last = 0;
  const next = () => {
    last += APART;
    return last;
  };
  const succeed = (into: unknown) => {
    if (into instanceof BigUint64Array) into[0] = BigInt(next());
    return Result.SUCCESS;
  };
  const api = Object.fromEntries(Object.keys(FUNCTIONS).map((name) => [name, succeed]));
  return {
    api: api as unknown as DriverApi,
    aside: async () => Result.SUCCESS,
    addressOf: next,
    textAt: () => "",
    library: "",
    cuda: "",
  };
}
