// Garbage that weighs nothing in V8's eyes is collected.
import { setImmediate as turn } from "node:timers/promises";
import { expect, it } from "vitest";
import { GarbageBound } from "../../src/host/garbage.js";

const MIB = 2 ** 20;
const inUse = () => process.memoryUsage().arrayBuffers;

/** How far the memory of arrays grows while half a GiB of them is made and dropped. */
async function growth(check: () => void): Promise<number> {
  const before = inUse();
  let most = 0;
  for (let i = 0; i < 512; i++) {
    new Uint8Array(new SharedArrayBuffer(MIB))[i] = 1;
    check();
    most = Math.max(most, inUse() - before);
    await turn();
  }
  return most;
}

it("keeps arrays that nobody uses within its bytes", async () => {
  const garbage = new GarbageBound(32 * MIB);
  // what is collected is given back by another thread, which may be late
  expect(await growth(() => garbage.check())).toBeLessThan(192 * MIB);
  const none = new GarbageBound(Number.POSITIVE_INFINITY);
  expect(await growth(() => none.check())).toBeGreaterThan(256 * MIB);
});
