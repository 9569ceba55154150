/** How work is divided: every row goes to a job once, with all rows that it may match. */
import { describe, expect, it } from "vitest";
import type { JobResult } from "../../packages/cluster/src/jobs.js";
import { partitionsFor, partJobs, SIZES, smallSide } from "../../packages/cluster/src/run/layout.js";

const KiB = 2 ** 10;
const workers = { count: 2, memory: 800 * KiB, sizes: { ...SIZES, leastJob: 10 * KiB } };

/** A job's result whose partitions have so many bytes. */
function dealt(file: string, bytes: readonly number[]): JobResult {
  const offsets = [0];
  for (const own of bytes) offsets.push((offsets.at(-1) as number) + own);
  return { dealt: { file, offsets } } as unknown as JobResult;
}

/** What jobs read, as "file from-to" of each side. */
function read(jobs: ReturnType<typeof partJobs>): string[][][] {
  return jobs.map((sides) =>
    sides.map((side) =>
      "slices" in side ? side.slices.map(({ file, from, to }) => `${file} ${from}-${to}`) : [],
    ),
  );
}

describe("partitions", () => {
  it("are as many as the memory asks for, and as workers have use for", () => {
    expect(partitionsFor(0, workers)).toBe(1);
    expect(partitionsFor(15 * KiB, workers)).toBe(2);
    expect(partitionsFor(400 * KiB, workers)).toBe(4);
    expect(partitionsFor(10_000 * KiB, workers)).toBe(100);
    expect(partitionsFor(2 ** 40, workers)).toBe(256);
  });

  it("that are small share a job, in their order; those without rows have none", () => {
    const jobs = partJobs([[dealt("a", [1000, 0, 2000, 9000, 3000])]], 5, undefined, true, workers);
    expect(read(jobs)).toEqual([[["a 0-1000", "a 1000-3000"]], [["a 3000-12000"]], [["a 12000-15000"]]]);
  });

  it("keep the order of the rows within a partition", () => {
    const jobs = partJobs([[dealt("a", [10, 20]), dealt("b", [0, 5])]], 2, undefined, false, workers);
    expect(read(jobs)).toEqual([[["a 0-10", "a 10-30", "b 0-5"]]]);
  });

  it("that are far too large are divided by the larger side, where that side's rows come out once", () => {
    const large = [dealt("a", [90 * KiB]), dealt("b", [90 * KiB]), dealt("c", [10 * KiB])];
    const small = [dealt("x", [20 * KiB]), dealt("y", [KiB])];
    const divided = (how: "inner" | "left" | "right" | "full" | "semi" | "anti" | undefined, swap = false) =>
      read(partJobs(swap ? [small, large] : [large, small], 1, how, false, workers));
    const [a, b, c] = ["a", "b", "c"].map((file, i) => [`${file} 0-${[90, 90, 10][i] * KiB}`]);
    const all = [...a, ...b, ...c];
    const both = [`x 0-${20 * KiB}`, `y 0-${KiB}`];
    for (const how of ["inner", "left", "semi", "anti"] as const)
      expect(divided(how), how).toEqual([a, b, c].map((own) => [own, both]));
    expect(divided("inner", true)).toEqual([a, b, c].map((own) => [both, own]));
    expect(divided("right", true)).toEqual([a, b, c].map((own) => [both, own]));
    // the smaller side is the one that may be divided
    expect(divided("right")).toEqual([[all, both]]);
    expect(divided("full")).toEqual([[all, both]]);
    expect(divided(undefined)).toEqual([[all, both]]);
  });
});

it("a side that every job reads is small, and its rows come out only where they match", () => {
  const sides = (how: Parameters<typeof smallSide>[0], ...bytes: number[]) => smallSide(how, bytes, workers);
  const [large, small] = [2 ** 30, 2 ** 20];
  expect([sides("inner", large, small), sides("inner", small, large)]).toEqual([1, 0]);
  expect([sides("left", large, small), sides("left", small, large)]).toEqual([1, undefined]);
  expect([sides("semi", large, small), sides("anti", small, large)]).toEqual([1, undefined]);
  expect([sides("right", large, small), sides("right", small, large)]).toEqual([undefined, 0]);
  expect(sides("full", small, small)).toBe(undefined);
  expect(sides("inner", small, small / 2)).toBe(1);
  expect(sides("inner", large, large)).toBe(undefined);
  // of what a worker may hold, if that is less than to deal out the other side
  const roomy = { ...workers, memory: 2 ** 30 };
  expect(smallSide("left", [2 ** 30, 2 ** 27], roomy)).toBe(1);
  expect(smallSide("left", [2 ** 30, 2 ** 29], roomy)).toBe(undefined);
  expect(smallSide("left", [2 ** 30, 2 ** 27], { ...roomy, count: 10 })).toBe(undefined);
});
