/** What a log makes of the chunks that an engine notes in it. */
import { expect, it } from "vitest";
import { PlanLog } from "../../src/engine/plan.js";

const direct = { strategy: "direct", reason: "few", groupSize: 2, parts: 1, pages: 0 } as const;
const paged = { strategy: "partitioned", reason: "many", groupSize: 1, parts: 4, pages: 16 } as const;

it("a plan counts chunks by their way, and goes by the last one", () => {
  const log = new PlanLog();
  for (const way of [paged, direct, paged, direct, direct]) log.beginChunk(way);
  const { ways, ...plan } = log.finish();
  expect(ways).toEqual([
    { ...paged, chunks: 2 },
    { ...direct, chunks: 3 },
  ]);
  expect(plan).toMatchObject({ ...direct, chunks: 5 });
});

it("a chunk may go another way than was planned", () => {
  const log = new PlanLog();
  log.beginChunk();
  log.noteWay(paged);
  log.noteWay({ strategy: "direct", reason: "few", groupSize: 2, parts: 1, pages: 0 });
  expect(log.finish().ways).toEqual([{ ...direct, chunks: 1 }]);
});

it("a call without chunks says so", () => {
  expect(new PlanLog().finish()).toMatchObject({ reason: "there was nothing to do", chunks: 0, ways: [] });
});
