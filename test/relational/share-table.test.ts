import { dictionary, float64, int32, tableFromArrays, utf8 } from "@uwdata/flechette";
import { expect, it } from "vitest";
import type { CpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { openDevice } from "../../src/index.js";
import { count, countDistinct, groupBy, max, mean, shareTable, sum } from "../../src/relational/index.js";

const ROWS = 100_000;

function someTable(nulls: boolean) {
  const every = <T>(value: (row: number) => T) =>
    Array.from({ length: ROWS }, (_, row) => (nulls && row % 9 === 4 ? null : value(row)));
  return tableFromArrays(
    {
      key: every((row) => (row * 7) % 100),
      value: every((row) => row - 1000),
      number: every((row) => row / 7),
      text: every((row) => `text ${row % 50}`),
      long: every((row) => `a text of its own, ${row % 1000}`),
      list: Array.from({ length: ROWS }, (_, row) => [row, row + 1].slice(0, row % 3)),
    },
    { types: { key: int32(), value: int32(), number: float64(), text: dictionary(utf8()), long: utf8() } },
  );
}

/** The buffers of the rows of a batch. */
function buffersOf(batch: object): ArrayBufferLike[] {
  const { values, offsets, validity, children } = batch as Record<string, unknown>;
  const own = [values, offsets, validity].filter((part) => ArrayBuffer.isView(part) && part.byteLength > 0);
  const inner = (children as object[] | undefined)?.flatMap(buffersOf) ?? [];
  return [...own.map((part) => (part as Uint8Array).buffer), ...inner];
}

for (const nulls of [false, true]) {
  it(`puts all rows into shared memory, ${nulls ? "with" : "without"} nulls`, () => {
    const table = someTable(nulls);
    const shared = shareTable(table);
    const found = shared.children.flatMap(({ data }) => data.flatMap(buffersOf));
    expect(found.length).toBeGreaterThan(6);
    for (const buffer of found) expect(buffer).toBeInstanceOf(SharedArrayBuffer);
    expect(shared.numRows).toBe(ROWS);
    for (const name of table.names) {
      const [mine, theirs] = [shared, table].map((each) => each.getChild(name));
      for (let row = 0; row < ROWS; row += 997) expect(String(mine.at(row))).toBe(String(theirs.at(row)));
    }
    // what is shared stays
    const again = shareTable(shared);
    expect(again.getChildAt(0).data[0].values.buffer).toBe(shared.getChildAt(0).data[0].values.buffer);
  });
}

it("groups to the same answer, and copies nothing", async () => {
  const table = someTable(false);
  const shared = shareTable(table);
  const aggregate = {
    n: count(),
    s: sum("value"),
    m: mean("number"),
    t: max("text"),
    d: countDistinct("text"),
  };
  const peaks: number[] = [];
  const answers: unknown[] = [];
  for (const each of [table, shared]) {
    const device = await openDevice({ backend: "cpu", threads: 3 });
    const { host } = (device as unknown as { engine: CpuEngine }).engine;
    answers.push((await groupBy(each, { by: ["key"], aggregate, device })).toArray());
    peaks.push(host.memory.use.peak);
    device.destroy();
  }
  expect(answers[1]).toEqual(answers[0]);
  expect(peaks[0] - peaks[1]).toBeGreaterThan(16 * ROWS);
});
