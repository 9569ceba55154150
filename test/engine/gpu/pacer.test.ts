import { expect, it } from "vitest";
import { Pacer } from "../../../src/engine/gpu/pacer.js";

/** Runs chunks of the pacer's size at a speed, in elements per millisecond. */
function run(pacer: Pacer, chunks: number, speed: number): void {
  for (let i = 0; i < chunks; i++) {
    const elements = pacer.next("insert");
    pacer.took("insert", elements, elements / speed);
  }
}

it("makes chunks of about 100 ms at the speed that is seen", () => {
  const pacer = new Pacer(2 ** 19);
  expect(pacer.next("insert")).toBe(2 ** 19);
  run(pacer, 1, 10_240);
  expect(pacer.next("insert")).toBe(1_024_000);
  expect(pacer.next("find")).toBe(2 ** 19);
});

it("takes long chunks again after one that a busy machine held up", () => {
  const pacer = new Pacer(2 ** 19);
  run(pacer, 1, 10_240);
  run(pacer, 1, 10);
  expect(pacer.next("insert")).toBe(1024);
  run(pacer, 20, 10_240);
  expect(pacer.next("insert")).toBeGreaterThan(1_000_000);
});

it("learns nothing from a chunk beside which kernels were compiled, and something from the next", async () => {
  let compiling = 0;
  const pacer = new Pacer(2 ** 19, () => compiling);
  // for another call, and longer than the chunk: taking it off would make any chunk a fast one
  await pacer.time("insert", 2 ** 19, async () => {
    compiling += 5000;
  });
  expect(pacer.next("insert")).toBe(2 ** 19);
  await pacer.time("insert", 2 ** 19, async () => {});
  expect(pacer.next("insert")).toBeGreaterThan(2 ** 20);
});

it("learns nothing from the short end of a batch", () => {
  const pacer = new Pacer(2 ** 19);
  run(pacer, 1, 10_240);
  pacer.took("insert", 10, 5);
  expect(pacer.next("insert")).toBe(1_024_000);
});
