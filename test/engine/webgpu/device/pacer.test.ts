import { expect, it } from "vitest";
import { Pacer } from "../../../../src/engine/webgpu/device/pacer.js";

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

it("leaves the time of compilations out", () => {
  let compiling = 0;
  const pacer = new Pacer(2 ** 19, () => compiling);
  const start = pacer.now();
  compiling += 5000;
  expect(pacer.now() - start).toBeLessThan(-4000);
  pacer.took("insert", 2 ** 19, pacer.now() - start);
  expect(pacer.next("insert")).toBeGreaterThan(2 ** 20);
});

it("learns nothing from the short end of a batch", () => {
  const pacer = new Pacer(2 ** 19);
  run(pacer, 1, 10_240);
  pacer.took("insert", 10, 5);
  expect(pacer.next("insert")).toBe(1_024_000);
});
