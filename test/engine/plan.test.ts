/** What a log makes of the chunks that an engine notes in it. */
import { expect, it } from "vitest";
import { PlanLog } from "../../src/engine/plan-log.js";

const direct = { strategy: "direct", reason: "few", groupSize: 2, partitions: 1, pages: 0 } as const;
const paged = { strategy: "partitioned", reason: "many", groupSize: 1, partitions: 4, pages: 16 } as const;

it("a plan counts chunks by their plans, and goes by the last one", () => {
  const log = new PlanLog();
  for (const plan of [paged, direct, paged, direct, direct]) log.beginChunk(plan);
  const { strategies, ...plan } = log.finish();
  expect(strategies).toEqual([
    { ...paged, chunks: 2 },
    { ...direct, chunks: 3 },
  ]);
  expect(plan).toMatchObject({ ...direct, chunks: 5 });
});

it("a chunk may be worked on otherwise than was planned", () => {
  const log = new PlanLog();
  log.beginChunk();
  log.correctChunk(paged);
  log.correctChunk({ strategy: "direct", reason: "few", groupSize: 2, partitions: 1, pages: 0 });
  expect(log.finish().strategies).toEqual([{ ...direct, chunks: 1 }]);
});

it("a call without chunks says so", () => {
  expect(new PlanLog().finish()).toMatchObject({
    reason: "there was nothing to do",
    chunks: 0,
    strategies: [],
  });
});
