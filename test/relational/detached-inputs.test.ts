/** Inputs whose memory is taken away while an operator works, at any turn of it: a right answer or an error, never other rows. */
import { expect, it } from "vitest";
import { type Device, openDevice } from "../../src/index.js";
import {
  count,
  distinct,
  GroupBy,
  groupBy,
  isIn,
  JoinIndex,
  join,
  sum,
  type TableInput,
} from "../../src/relational/index.js";
import { after, rightOrRefused, table } from "./helpers/taken-away.js";

const OTHER = { id: Int32Array.from({ length: 900 }, (_, i) => 2 * i), name: new Uint8Array(900).fill(7) };

const calls: Record<
  string,
  (device: Device, input: { id: Int32Array; value: Int32Array }) => Promise<unknown>
> = {
  join: async (device, input) => (await join(input, OTHER, { on: ["id"], device })).toArray(),
  "left join, as the right side": async (device, input) =>
    (await join(OTHER, input, { on: ["id"], how: "full", device })).toArray(),
  "join, counted": (device, input) => join(input, OTHER, { on: ["id"], device }).count(),
  "join in batches": async (device, input) => {
    const rows: unknown[] = [];
    const batches = join(input, OTHER, { on: ["id"], device }).batches({ maxBytes: 4096 });
    for await (const batch of batches) rows.push(...batch.toArray());
    return rows;
  },
  groupBy: async (device, input) =>
    (await groupBy(input, { by: ["id"], aggregate: { n: count(), s: sum("value") }, device })).toArray(),
  GroupBy: async (device, input) => {
    const groups = new GroupBy({ by: ["id"], aggregate: { s: sum("value") }, device });
    await groups.add(input);
    return (await groups.finish()).toArray();
  },
  distinct: async (device, input) => (await distinct(input, { on: ["id"], device })).toArray(),
  isIn: async (device, input) => Array.from(await isIn(input.id, OTHER.id, { device })),
  "isIn, as the set": async (device, input) => Array.from(await isIn(OTHER.id, input.id, { device })),
  JoinIndex: async (device, input) => {
    using index = await JoinIndex.create(device, input, { on: ["id"] });
    return (await index.join(OTHER, { how: "left" })).toArray();
  },
  uploadTable: async (device, input) => {
    using there = await device.uploadTable(input);
    return (await there.toArrow()).toArray();
  },
};

for (const threads of [1, 2]) {
  it.each(Object.keys(calls))(`%s with ${threads} threads has the right answer, or none`, async (name) => {
    using device = await openDevice({ backend: "cpu", threads });
    const turns = [0, 1, 2, 3, 5, 8, 12, 20, 24, 25, 26, 28, 32];
    await rightOrRefused((input) => calls[name](device, input), turns);
  });
}

it("adds nothing of a table that was detached meanwhile, and takes others afterwards", async () => {
  using device = await openDevice({ backend: "cpu", threads: 1 });
  const groups = new GroupBy({ by: ["id"], aggregate: { n: count() }, device });
  await groups.add(OTHER as TableInput);
  const { columns, takeAway } = table("transferred");
  const adding = groups.add({ id: columns.id });
  await after(2);
  takeAway();
  await expect(adding).rejects.toThrow("is detached");
  expect(groups.rows).toBe(900);
  expect((await groups.finish()).numRows).toBe(900);
});
