// Columns and checks of entries with equal keys: every entry is there once, a GPU's columns are the host's, and a check sees one wrong element.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mix } from "../../bench/mix.js";
import { type DeviceEntries, Entries, openEntries } from "../../bench/multimap-workload.js";
import { type Device, openDevice } from "../../src/index.js";

it.each([
  [1, 1],
  [2, 2],
  [129, 8],
  [1000, 7],
  [4096, 64],
  [5000, 5000],
])("every key of %i entries comes %i times, but for what does not divide", (size, multiplicity) => {
  const entries = new Entries(size, multiplicity);
  const counts = new Uint32Array(entries.distinct);
  for (let i = 0; i < size; i++) counts[entries.numberAt(i)]++;
  counts.forEach((count, number) => {
    expect(count).toBe(entries.countOf(number));
    expect(multiplicity - count === 0 || multiplicity - count === 1 || size % multiplicity !== 0).toBe(true);
  });
});

describe.each(["cpu", "webgpu"] as const)("on %s", (backend) => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend, software: backend === "webgpu" });
  });
  afterAll(() => device.destroy());

  it("columns are the same, and a check sees one wrong element", async () => {
    const entries = new Entries(1000, 7);
    const { size, distinct } = entries;
    using made = await openEntries(device, entries);
    const numbers = Array.from({ length: size }, (_, i) => entries.numberAt(i));
    expect(Array.from(await (await made.keys()).read())).toEqual(numbers.map(mix));
    expect(Array.from(await (await made.keys(990, 10)).read())).toEqual(numbers.slice(990).map(mix));
    expect(Array.from(await (await made.values(5, 3)).read())).toEqual([5, 6, 7]);
    const keys = Array.from({ length: distinct }, (_, i) => mix(i));
    expect(Array.from(await (await made.distinctKeys()).read())).toEqual(keys);

    const counts = Uint32Array.from(numbers, (number) => entries.countOf(number));
    await expectNoticed(counts, (wrong) => upload(wrong, (array) => made.checkCounts(array)));
    const offsets = Uint32Array.from({ length: distinct + 1 }, (_, i) => entries.offsetOf(i));
    const order = Uint32Array.from(numbers.keys()).sort((a, b) => numbers[a] - numbers[b] || b - a);
    await expectNoticed(order, (wrong) => checkRetrieved(made, false, offsets, wrong));
    await expectNoticed(offsets, (wrong) => checkRetrieved(made, false, wrong, order));
    await expectNoticed(
      order.map((i) => mix(numbers[i])),
      (wrong) => checkRetrieved(made, true, offsets, wrong),
    );
    const twice = order.with(0, order[1]);
    await expect(checkRetrieved(made, false, offsets, twice)).rejects.toThrow("retrieve, entry");
    await expect(checkRetrieved(made, false, offsets, order.subarray(1))).rejects.toThrow("999 entries");
  });

  async function upload<T>(
    column: Uint32Array,
    use: (array: Awaited<ReturnType<DeviceEntries["keys"]>>) => Promise<T>,
  ) {
    const array = await device.upload(column);
    return use(array).finally(() => array.destroy());
  }

  const checkRetrieved = (made: DeviceEntries, isSet: boolean, offsets: Uint32Array, entries: Uint32Array) =>
    upload(offsets, (first) =>
      upload(entries, (second) => made.checkRetrieved(isSet, { offsets: first, entries: second })),
    );
});

/** A check takes what is right, and nothing that differs in one element. */
async function expectNoticed(
  right: Uint32Array,
  check: (answer: Uint32Array) => Promise<void>,
): Promise<void> {
  await check(right);
  for (const at of [1, right.length >> 1, right.length - 1]) {
    await expect(check(right.with(at, right[at] ^ 1))).rejects.toThrow("is wrong");
  }
}
