/** Inputs of operators within memory that lose theirs meanwhile: a right answer or an error, never other rows. */
import { expect, it } from "vitest";
import { count, distinct, groupBy, join, sum } from "../../src/relational/index.js";
import { rightOrRefused, table } from "../relational/helpers/taken-away.js";

const ROWS = 12_000;
const memory = { limit: 2 ** 20 };
const few = { id: Int32Array.from({ length: 900 }, (_, i) => 2 * i), name: new Uint8Array(900).fill(7) };
const many = { id: Int32Array.from({ length: 15_000 }, (_, i) => i), name: new Uint8Array(15_000).fill(7) };

type Input = { id: Int32Array; value: Int32Array };
/** The rows in batches that share its memory. */
function batchesOf({ id, value }: Input) {
  const parts = [0, 1, 2].map((i) => [(i * id.length) / 3, ((i + 1) * id.length) / 3]);
  const batches = parts.map((part) => ({ id: id.subarray(...part), value: value.subarray(...part) }));
  return (async function* () {
    yield* batches;
  })();
}

const calls: Record<string, (input: Input) => Promise<unknown>> = {
  "join with one that fits": async (input) => (await join(input, few, { on: ["id"], memory })).toArray(),
  "join with one that fits, as the right": async (input) =>
    (await join(few, input, { on: ["id"], how: "full", memory })).toArray(),
  "join in partitions": async (input) =>
    (await join(input, many, { on: ["id"], how: "left", memory })).toArray(),
  "join of batches": async (input) =>
    (await join(batchesOf(input), few, { on: ["id"], how: "left" })).toArray(),
  "join with a side in memory": async (input) =>
    (await join(batchesOf({ id: many.id, value: many.id }), input, { on: ["id"] })).toArray(),
  groupBy: async (input) =>
    (await groupBy(input, { by: ["id"], aggregate: { n: count(), s: sum("value") }, memory })).toArray(),
  "groupBy in partitions": async (input) =>
    (await groupBy(input, { by: ["value", "id"], aggregate: { n: count() }, memory })).toArray(),
  distinct: async (input) => (await distinct(input, { on: ["id"], memory })).toArray(),
};

it.each(Object.keys(calls))("%s has the right answer, or none", async (name) => {
  await rightOrRefused(calls[name], [0, 3, 12, 24, 26, 30, 40, 60], ROWS);
});

it("a join whose answer shares memory that is taken away before its end is refused", async () => {
  const { columns, takeAway } = table("transferred", ROWS);
  const part = ({ id, value }: Input, i: number) => ({
    id: id.subarray(i * 4000, (i + 1) * 4000),
    value: value.subarray(i * 4000, (i + 1) * 4000),
  });
  const own = table("transferred", ROWS).columns;
  async function* batches() {
    // the second is a piece by itself, whose rows all come through in order
    yield part(columns, 0);
    yield part(columns, 1);
    yield part(own, 0);
    yield part(own, 1);
    takeAway();
  }
  const ids = { id: Int32Array.from({ length: 700 }, (_, i) => i) };
  await expect(join(batches(), ids, { on: ["id"], how: "left", memory })).rejects.toThrow("is detached");
});
