import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readInChunks } from "../../src/containers/entries.js";
import { type Device, openDevice } from "../../src/index.js";

/** Just above two chunks of 2^20 elements. */
const LENGTH = 2 ** 21 + 3;

describe("readInChunks", () => {
  let device: Device;
  beforeAll(async () => {
    device = await openDevice({ backend: "cpu" });
  });
  afterAll(() => device.destroy());
  const upload = (length: number, start = 0) =>
    device.upload(Uint32Array.from({ length }, (_, i) => start + i));

  it("yields equally long pieces of all columns, in order, and destroys the columns", async () => {
    const columns = [await upload(LENGTH), await upload(LENGTH, 7)];
    const lengths = [];
    let next = 0;
    for await (const [first, second] of readInChunks(columns)) {
      lengths.push(first.length);
      expect(second.length).toBe(first.length);
      expect([first[0], second[0]]).toEqual([next, next + 7]);
      next += first.length;
      expect([first.at(-1), second.at(-1)]).toEqual([next - 1, next + 6]);
    }
    expect(lengths).toEqual([2 ** 20, 2 ** 20, 3]);
    expect(columns.map((column) => column.destroyed)).toEqual([true, true]);
  });

  it("yields nothing for columns without elements", async () => {
    const column = await upload(0);
    for await (const _ of readInChunks([column])) expect.unreachable();
    expect(column.destroyed).toBe(true);
  });

  it("destroys the columns after a break and after an error, too", async () => {
    const [left, thrown] = [await upload(LENGTH), await upload(LENGTH)];
    for await (const _ of readInChunks([left])) break;
    expect(left.destroyed).toBe(true);
    const visit = async () => {
      for await (const _ of readInChunks([thrown])) throw new Error("stop");
    };
    await expect(visit()).rejects.toThrow("stop");
    expect(thrown.destroyed).toBe(true);
  });
});
