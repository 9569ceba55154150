import { describe, expect, it } from "vitest";
import { CallQueue } from "../../src/containers/queue.js";

const wait = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

describe("CallQueue", () => {
  it("starts each call when the one before has ended, in the order they were added", async () => {
    const queue = new CallQueue();
    const events: string[] = [];
    const call = (name: string, milliseconds: number) => async () => {
      events.push(`${name} starts`);
      await wait(milliseconds);
      events.push(`${name} ends`);
      return name;
    };
    const answers = [queue.add(call("slow", 20)), queue.add(call("fast", 0)), queue.add(call("last", 5))];
    expect(events).toEqual([]);
    expect(await Promise.all(answers)).toEqual(["slow", "fast", "last"]);
    expect(events).toEqual([
      "slow starts",
      "slow ends",
      "fast starts",
      "fast ends",
      "last starts",
      "last ends",
    ]);
  });

  it("goes on after a call that rejects or throws, and hands its error to its caller alone", async () => {
    const queue = new CallQueue();
    const failure = new Error("no");
    const rejected = queue.add(() => Promise.reject(failure));
    const thrown = queue.add(() => {
      throw failure;
    });
    const fine = queue.add(async () => 3);
    await expect(rejected).rejects.toBe(failure);
    await expect(thrown).rejects.toBe(failure);
    expect(await fine).toBe(3);
    await queue.drained();
  });

  it("is drained when every call added before has ended, well or not", async () => {
    const queue = new CallQueue();
    await queue.drained();
    let ended = 0;
    void queue.add(() => wait(10).then(() => ended++));
    const failing = queue.add(async () => {
      ended++;
      throw new Error("no");
    });
    failing.catch(() => {});
    await queue.drained();
    expect(ended).toBe(2);
  });
});
