import { setImmediate } from "node:timers/promises";
import { expect, it } from "vitest";
import { collectGarbage } from "../../bench/garbage.js";
import { median, timeInTurn } from "../../bench/timing.js";

it("takes a time that was seen as the median", () => {
  expect(median([5, 1, 9])).toBe(5);
  expect(median([4, 1, 9, 5])).toBe(4);
});

it("lets calls take turns after one run that does not count", async () => {
  const order: string[] = [];
  const named = (name: string) => ({
    before: () => order.push(`before ${name}`),
    call: () => `result ${name}`,
    after: (result: string) => order.push(`after ${result}`),
  });
  const timings = await timeInTurn([named("a"), named("b")], { runs: 2, leastTotalMs: 0 });
  const round = ["before a", "after result a", "before b", "after result b"];
  expect(order).toEqual([...round, ...round, ...round]);
  expect(timings.map(({ runs }) => runs)).toEqual([2, 2]);
});

it("runs short calls more often, but not for ever", async () => {
  const [timing] = await timeInTurn([{ call: () => {} }], { runs: 1, leastTotalMs: 1e9 });
  expect(timing.runs).toBe(50);
});

it("collects what nobody holds any more", async () => {
  const gone = new WeakRef({ some: "object" });
  await setImmediate(); // an object stays until the job ends that made a WeakRef of it
  await collectGarbage();
  expect(gone.deref()).toBeUndefined();
});
