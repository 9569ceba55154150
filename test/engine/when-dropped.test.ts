import { describe, expect, it } from "vitest";
import { openDevice, StaticMap } from "../../src/index.js";
import { dropped, expectGivenBack } from "../helpers/dropped-cases.js";

describe("memory of what is dropped without destroy is given back (cpu)", () => {
  for (const [name, drop] of Object.entries(dropped)) {
    it(`of ${name}`, async () => {
      using device = await openDevice({ backend: "cpu", threads: 1 });
      await expectGivenBack(device, drop);
    });
  }
});

it("60 maps that are dropped one after the other take the memory of few", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const drop = () => StaticMap.create(device, { key: "u32", value: "u32", capacity: 1 << 15 });
  for (let i = 0; i < 6; i++) await expectGivenBack(device, drop);
  expect(device.memory.peak).toBeLessThan(20 * 2 ** 19);
});
