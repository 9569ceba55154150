// Joins whose result stays on the device list rows before they know whether build rows repeat, and whether all of them are in the table:
// where that guess was wrong, and chunk by chunk.
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { NO_ROW } from "../../../../src/engine/device-columns.js";
import { matchRows } from "../../../../src/engine/gpu/join/match-rows.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { JOIN_KINDS, type JoinKind } from "../../../../src/engine/join-kinds.js";
import { covering } from "../../../helpers/rounds.js";
import { Scarcity } from "../../webgpu/helpers/watched-gpu.js";
import { weakCasSeen, weakRowCas } from "../../webgpu/helpers/weak-cas.js";
import { type GpuEngine, type GpuOptions, openGpu } from "../helpers/open-gpu.js";

const variants = {
  "as it is": {},
  // 256 failures of one row in a row: about one row of 13 is left to a second pass
  "nearly all compare-exchanges fail": { tuning: { cas: weakRowCas(99) } },
  "rows that have a partner are counted first": { tuning: { leastCounted: 0 } },
  "by a table of the engine": { strategy: "partitioned" },
  "part by part": { tuning: { partedJoin: { leastRows: 0, narrow: true }, leastCounted: 0 } },
  "part by part, where compare-exchanges fail": {
    tuning: { partedJoin: { leastRows: 0, narrow: true }, casSeen: weakCasSeen(60) },
  },
} satisfies Record<string, GpuOptions>;
const scarcity = new Scarcity();
const engines = new Map<string, GpuEngine>();

beforeAll(async () => {
  for (const [name, options] of Object.entries(variants)) {
    engines.set(name, await openGpu(options, (gpuDevice) => scarcity.on(gpuDevice)));
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** Keys of two words, or of one. */
function keysOf(values: number[], width: number) {
  const data = Uint32Array.from(values.flatMap((value) => (width === 2 ? [value % 7, value] : [value])));
  return { rows: values.length, columns: [{ kind: "words" as const, width, data, validity: null }] };
}

const alone = (side: number[], inPairs: Set<number>) => [...side.keys()].filter((row) => !inPairs.has(row));

function expected(left: number[], right: number[], how: JoinKind): string[] {
  const pairs = left.flatMap((a, i) => right.flatMap((b, j) => (a === b ? [[i, j]] : [])));
  const [inLeft, inRight] = [new Set(pairs.map(([i]) => i)), new Set(pairs.map(([, j]) => j))];
  if (how === "semi" || how === "anti") {
    return left.flatMap((_, i) => (inLeft.has(i) === (how === "semi") ? [`${i}`] : [])).sort();
  }
  const rows = pairs.map(([i, j]) => `${i} ${j}`);
  if (how === "left" || how === "full") rows.push(...alone(left, inLeft).map((i) => `${i} ${NO_ROW}`));
  if (how === "right" || how === "full") rows.push(...alone(right, inRight).map((j) => `${NO_ROW} ${j}`));
  return rows.sort();
}

async function matched(
  engine: GpuEngine,
  left: number[],
  right: number[],
  how: JoinKind,
  width = 1,
): Promise<string[]> {
  const call = { nullsEqual: false };
  const answer = await matchRows(engine.tableHost, keysOf(left, width), keysOf(right, width), how, call);
  const [a, b] = [await answer.left.read(), await answer.right?.read()];
  if (answer.inOrder) {
    const inOrder = { left, right }[answer.inOrder];
    expect(Array.from({ left: a, right: b }[answer.inOrder] ?? [])).toEqual([...inOrder.keys()]);
  }
  answer.left.destroy();
  answer.right?.destroy();
  return Array.from(a, (row, i) => (b ? `${row} ${b[i]}` : `${row}`)).sort();
}

const rowsOf = (rows: number, of: (row: number) => number) =>
  Array.from({ length: rows }, (_, row) => of(row));
const sides = {
  "no two rows of a side are equal": [rowsOf(700, (row) => 3 * row), rowsOf(500, (row) => 2 * row)],
  "every row of the larger side has a partner": [
    rowsOf(700, (row) => (7 * row) % 500),
    rowsOf(500, (row) => row),
  ],
  "build rows repeat": [rowsOf(700, (row) => row % 300), rowsOf(500, (row) => row % 400)],
} as const;

describe.each(Object.keys(variants))("%s", (variant) => {
  const kinds = covering(
    Object.keys(sides) as (keyof typeof sides)[],
    (kind) => variant === "as it is" || kind === "build rows repeat",
  );
  it.each(kinds)("%s", async (kind) => {
    const engine = engines.get(variant) as GpuEngine;
    const [left, right] = sides[kind].map((side) => [...side]);
    engine.trim();
    for (const how of JOIN_KINDS)
      expect(await matched(engine, left, right, how)).toEqual(expected(left, right, how));
    expect(await matched(engine, left, right, "full", 2)).toEqual(expected(left, right, "full"));
    const again = async () => {
      // memory of each kind, and in each variant that of the one that has all of it
      const hows = covering(JOIN_KINDS, (how) => how === "full" || variant === "as it is");
      for (const how of hows) await matched(engine, right, left, how);
      engine.trim();
      return scarcity.live;
    };
    // staging memory is kept
    await again();
    const live = await again();
    expect(await again()).toBe(live);
  });
});

it("in chunks, each of which is waited for", async () => {
  const next = vi.spyOn(Pacer.prototype, "next").mockReturnValue(128);
  const ways = ["as it is", "rows that have a partner are counted first"];
  for (const [turn, [left, right]] of Object.values(sides).entries()) {
    for (const how of JOIN_KINDS) {
      // each kind in both ways, and both ways of each side
      for (const variant of covering(ways, (_, i) => (i + turn + JOIN_KINDS.indexOf(how)) % 2 === 0)) {
        const engine = engines.get(variant) as GpuEngine;
        expect(await matched(engine, [...left], [...right], how)).toEqual(
          expected([...left], [...right], how),
        );
      }
    }
  }
  expect(next).toHaveBeenCalled();
});
