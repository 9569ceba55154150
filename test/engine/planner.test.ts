/** What the planner tells without the strategies that it chooses among. */
import { afterAll, expect, it, vi } from "vitest";
import type { TableSpec } from "../../src/engine/layout.js";
import type { TableState } from "../../src/engine/webgpu/table/table-state.js";

vi.mock("../../src/engine/webgpu/partitioned/partitioned.js", () => {
  throw new Error("The page is offline.");
});
// files of one process share modules, and another one may have loaded the strategies
vi.resetModules();
afterAll(() => vi.resetModules());
const { plan } = await import("../../src/engine/webgpu/planner.js");

const spec: TableSpec = { key: "u32", value: "u32", slots: 2 ** 26, hash: "murmur3" };
const tableOf = (software: boolean, slots = spec.slots) =>
  ({
    host: { gpu: { traits: { isEmulated: software } } },
    spec: { ...spec, slots },
    live: 0,
    tombstones: 0,
  }) as unknown as TableState;

it("goes directly at once where nothing else pays", async () => {
  const reasonOf = async (table: TableState, count: number) => (await plan("find", table, count, {})).reason;
  expect(await reasonOf(tableOf(true), 2 ** 27)).toMatch(/software/);
  expect(await reasonOf(tableOf(false, 2 ** 20), 2 ** 27)).toMatch(/cache/);
  expect(await reasonOf(tableOf(false), 2 ** 19)).toMatch(/small/);
});

it("goes directly where the strategies cannot be loaded, unless they were asked for", async () => {
  const choice = await plan("erase", tableOf(false), 2 ** 24, {});
  expect(choice).toMatchObject({ strategy: "direct", reason: expect.stringMatching(/loaded/) });
  await expect(plan("erase", tableOf(false), 10, { strategy: "partitioned" })).rejects.toThrow();
  expect(await plan("erase", tableOf(false), 10, { strategy: "direct" })).toMatchObject({
    strategy: "direct",
  });
});
