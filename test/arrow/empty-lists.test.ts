/** An empty list of row objects is a table without rows, where nobody asks for its columns. */
import { expect, it } from "vitest";
import { ValidationError } from "../../src/index.js";
import {
  count,
  distinct,
  dropDuplicates,
  GroupBy,
  groupBy,
  JoinIndex,
  join,
  valueCounts,
} from "../../src/relational/index.js";
import { rejection } from "../conformance/helpers/checks.js";
import { useDevice } from "../conformance/helpers/device.js";

const device = useDevice();
const rows = [
  { id: 1, x: 3 },
  { id: 2, x: 4 },
];
const aggregate = { n: count() };

async function* batches() {
  yield [];
  yield rows;
  yield [];
}
async function* none() {
  yield [];
}

it("answers no rows where all columns are asked for", async () => {
  const on = { device: device() };
  for (const made of [
    distinct([], on),
    dropDuplicates([], on),
    distinct(none(), on),
    distinct([], { ...on, memory: { limit: 2 ** 20 } }),
  ]) {
    const table = await made;
    expect([table.numRows, table.names]).toEqual([0, []]);
  }
  for (const there of [await device().uploadTable([]), await distinct([], { ...on, output: "device" })]) {
    expect([there.numRows, there.names, (await there.toArrow()).numRows]).toEqual([0, [], 0]);
    there.destroy();
  }
});

it("adds nothing as a batch among others", async () => {
  const on = { device: device() };
  expect((await groupBy(batches(), { by: ["id"], aggregate, ...on })).numRows).toBe(2);
  expect((await distinct(batches(), on)).numRows).toBe(2);
  expect((await join(batches(), rows, { on: ["id"], ...on })).numRows).toBe(2);
  const groups = new GroupBy({ by: ["id"], aggregate, ...on });
  for await (const batch of batches()) await groups.add(batch);
  expect((await groups.finish()).numRows).toBe(2);
  const index = await JoinIndex.create(device(), rows, { on: ["id"] });
  let joined = 0;
  for await (const { numRows } of index.joinAll(batches())) joined += numRows;
  expect(joined).toBe(2);
  index.destroy();
});

it("says how to give the columns that are asked for", async () => {
  const on = { device: device() };
  for (const call of [
    join([], rows, { on: ["id"], ...on }),
    join(rows, [], { on: ["id"], how: "left", ...on }),
    groupBy([], { by: ["id"], aggregate, ...on }),
    distinct([], { on: ["id"], ...on }),
    valueCounts([], "id", on),
    JoinIndex.create(device(), [], { on: ["id"] }),
  ]) {
    const { message, fix } = await rejection(call as Promise<unknown>, ValidationError);
    expect(message).toContain('has no columns, and "id" is asked for');
    expect(fix).toContain('{ "id": new Int32Array() }');
  }
  const given = { id: new Int32Array() };
  expect((await join(given, rows, { on: ["id"], how: "full", ...on })).numRows).toBe(2);
});
