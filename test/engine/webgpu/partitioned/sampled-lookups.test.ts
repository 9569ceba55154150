/** Lookups of batches that are brought into the order of their partitions by what a sample of them tells. */
import { expect, it, vi } from "vitest";
import { SENTINEL } from "../../../../src/engine/webgpu/partitioned/unpermute.js";
import { TableState } from "../../../../src/engine/webgpu/table/table-state.js";
import { StaticMap } from "../../../../src/index.js";
import { expectSame } from "../../../conformance/helpers/checks.js";
import { absentKeys, counting, keysWithHome, uniqueKeys } from "../../../conformance/helpers/keys.js";
import { usePagedTables } from "../helpers/paged-tables.js";

/** Slots of the tables, which have three windows of so many bytes. */
const SLOTS = 60_000;
const WINDOW_BYTES = 20_002 * 8;
/** Elements of a batch: so many that it is not filled up to more than three times as many. */
const BATCH = 2 ** 17;

const { newTable, device } = usePagedTables(WINDOW_BYTES);

const [left, right] = [keysWithHome(10, SLOTS, 40), keysWithHome(SLOTS - 10, SLOTS, 40)];
const sentinels = Uint32Array.of(0xffffffff, 0xfffffffe);
const present = Uint32Array.of(...left, ...right, ...sentinels, ...uniqueKeys(30_000));
const unique = absentKeys(BATCH);
unique.set(present);

/** One element in 16 is counted: the first 1,024 of 16,384. */
const isCounted = (i: number) => i % 16_384 < 1024;

const batches: Record<string, { keys: Uint32Array; splits: number }> = {
  "unique keys": { keys: unique, splits: 1 },
  // all other partitions are empty, and the first or the last partition's keys fill their room
  "keys of the first partition": { keys: unique.map((_, i) => left[i % left.length]), splits: 1 },
  "keys of the last partition": { keys: unique.map((_, i) => right[i % right.length]), splits: 1 },
  "keys of both": { keys: unique.map((_, i) => (i % 2 ? left : right)[i % 40]), splits: 1 },
  "keys of the side slots": { keys: unique.map((_, i) => sentinels[i % 2]), splits: 1 },
  "what repeats is not counted": {
    keys: unique.map((key, i) => (isCounted(i) ? key : left[i % 7])),
    splits: 2,
  },
  "only what repeats is counted": {
    keys: unique.map((key, i) => (isCounted(i) ? left[i % 7] : key)),
    splits: 2,
  },
};

it.for(Object.entries(batches))("%s", async ([, { keys, splits }]) => {
  const model = await newTable("map", SLOTS);
  await model.insert("keep", present, counting(present.length));
  const ahead = vi.spyOn(TableState.prototype, "submitAhead");
  await model.find(keys, 12_345);
  expect(ahead).toHaveBeenCalledTimes(splits);
  // a table remembers that a sample was wrong
  await model.contains(keys);
  expect(ahead).toHaveBeenCalledTimes(splits + 1);
  ahead.mockRestore();
  model.table.destroy();
});

it("values that stand for absent keys on the way are found as they are", async () => {
  using map = await StaticMap.create(device(), { key: "u32", value: "u32", capacity: SLOTS });
  const stored = counting(present.length);
  stored[1234] = SENTINEL;
  await map.insert(present, stored);
  const ahead = vi.spyOn(TableState.prototype, "submitAhead");
  // after the first time the table is known to have one
  for (const splits of [2, 3, 4]) {
    const { values, found } = await map.find(unique, { missing: SENTINEL - 1 });
    expectSame(
      found,
      unique.map((_, i) => Number(i < present.length)),
    );
    expectSame(
      values,
      unique.map((_, i) => stored[i] ?? SENTINEL - 1),
    );
    expect(ahead).toHaveBeenCalledTimes(splits);
  }
  ahead.mockRestore();
});
