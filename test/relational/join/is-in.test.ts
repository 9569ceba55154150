// isIn and dropDuplicates, valueCounts: their own arguments. Rows beside DuckDB's: random-groups.test.ts.
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openDevice, type Plan } from "../../../src/index.js";
import {
  type DeviceTable,
  dropDuplicates,
  isIn,
  type JoinStage,
  valueCounts,
} from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";

const device = useDevice();

describe("isIn", () => {
  it("compares lists, typed arrays and columns of both libraries by value", async () => {
    const set = apache.vectorFromArray([3n, -1n, 3n, null], new apache.Int64());
    const mask = Uint8Array.of(1, 0, 0, 1);
    for (const values of [
      [3, 5, null, -1],
      [3n, 5n, undefined, -1n],
      flechette.columnFromArray([3, 5, null, -1], flechette.int16()),
      apache.vectorFromArray([3, 5, null, -1], new apache.Int32()),
    ]) {
      expect(await isIn(values, set, { device: device() })).toEqual(mask);
    }
    const nullsEqual = true;
    expect(await isIn([null, 3n], set, { nullsEqual, device: device() })).toEqual(Uint8Array.of(1, 1));
    expect(
      await isIn(Float32Array.of(-0, Number.NaN, 1), Float64Array.of(0, Number.NaN), { device: device() }),
    ).toEqual(Uint8Array.of(1, 1, 0));
    expect(await isIn([], ["a"], { device: device() })).toEqual(new Uint8Array(0));
    expect(await isIn(["a"], [], { device: device() })).toEqual(Uint8Array.of(0));
  });

  it("answers as a Set does", async () => {
    const strings = fc.array(fc.option(fc.string({ maxLength: 3, unit: "binary" })), { maxLength: 80 });
    await fc.assert(
      fc.asyncProperty(strings, strings, fc.boolean(), async (values, set, nullsEqual) => {
        const among = new Set(set);
        const expected = values.map((value) => Number(among.has(value) && (value !== null || nullsEqual)));
        expect([...(await isIn(values, set, { nullsEqual, device: device() }))]).toEqual(expected);
      }),
      { numRuns: rounds(scaled(60, 8)) },
    );
  });

  it("answers as a Set does where columns are on the device, or the mask is to be", async () => {
    const strings = fc.array(fc.option(fc.string({ maxLength: 2, unit: "binary" })), { maxLength: 80 });
    const places = fc.record({ values: fc.boolean(), set: fc.boolean(), mask: fc.boolean() });
    const columnOf = (list: (string | null)[]) => flechette.columnFromArray(list, flechette.utf8());
    const property = fc.asyncProperty(
      strings,
      strings,
      fc.boolean(),
      places,
      async (values, set, nullsEqual, onDevice) => {
        const among = new Set(set);
        const expected = values.map((value) => Number(among.has(value) && (value !== null || nullsEqual)));
        const { inUse } = device().memory;
        const tables: DeviceTable[] = [];
        const placed = async (list: (string | null)[], there: boolean) => {
          if (!there) return columnOf(list);
          const table = await device().uploadTable({ other: columnOf(list), column: columnOf(list) });
          tables.push(table);
          return table.getChild("column");
        };
        const columns = [await placed(values, onDevice.values), await placed(set, onDevice.set)] as const;
        const options = { nullsEqual, device: device() };
        if (onDevice.mask) {
          const mask = await isIn(...columns, { ...options, output: "device" });
          expect([mask.type, ...(await mask.read())]).toEqual(["u8", ...expected]);
          mask.destroy();
        } else expect([...(await isIn(...columns, options))]).toEqual(expected);
        for (const table of tables) table.destroy();
        expect(device().memory.inUse).toBeLessThanOrEqual(inUse);
      },
    );
    await fc.assert(property, { numRuns: rounds(scaled(60, 12)) });
  });

  it("finds the device of its columns, compares by value across types there, and refuses other devices", async () => {
    using numbers = await device().uploadTable({ small: Int16Array.of(3, 5, -1), real: [3.5, -1, 0] });
    const mask = await isIn(numbers.getChild("small"), BigInt64Array.of(-1n, 3n), { output: "device" });
    expect([...(await mask.read())]).toEqual([1, 0, 1]);
    expect([...(await isIn([3, 0.5, -1], numbers.getChild("real")))]).toEqual([0, 0, 1]);
    expect(() => numbers.getChild("smal")).toThrow(/no column "smal"\. Did you mean "small"\?/);
    const small = numbers.getChild("small");
    await expect(isIn(small, [1], { output: "gpu" as never })).rejects.toThrow("output");
    const other = await openDevice({ backend: "cpu" });
    await expect(isIn(small, [1], { device: other })).rejects.toThrow(/different devices/);
    other.destroy();
    numbers.destroy();
    await expect(isIn(small, [1])).rejects.toThrow(/destroyed/);
  });

  it("tells stages and plan, heeds its signal, and refuses what it cannot compare", async () => {
    const stages: JoinStage[] = [];
    const plans: Plan[] = [];
    await isIn([1], [1], {
      device: device(),
      onStage: (stage) => stages.push(stage),
      onPlan: (plan) => plans.push(plan),
    });
    expect([stages, plans.length]).toEqual([["encode keys", "hash join"], 1]);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(isIn([1], [1], { signal, device: device() })).rejects.toThrow("enough");
    await expect(isIn(["a"], [1])).rejects.toThrow(/cannot be compared/);
    await expect(isIn("a" as never, ["a"])).rejects.toThrow(/"values" of the left table is "a"/);
    await expect(isIn(["a"], ["a"], { on: 1 } as never)).rejects.toThrow(/no option "on"/);
  });
});

describe("dropDuplicates and valueCounts", () => {
  const visits = { user: ["ann", "bob", "ann", null, "eve", null], page: [1, 2, 3, 4, 5, 6] };

  it("keep rows and columns in order", async () => {
    const pages = async (keep?: "first" | "last" | "none") => [
      ...(await dropDuplicates(visits, { on: ["user"], keep, device: device() })).getChild("page"),
    ];
    expect(await pages()).toEqual([1, 2, 4, 5]);
    expect(await pages("last")).toEqual([2, 3, 5, 6]);
    expect(await pages("none")).toEqual([2, 5]);
    expect((await dropDuplicates(visits, { keep: "none", device: device() })).numRows).toBe(6);
    expect((await valueCounts(visits, "user", { device: device() })).toArray()).toEqual([
      { user: "ann", count: 2 },
      { user: null, count: 2 },
      { user: "bob", count: 1 },
      { user: "eve", count: 1 },
    ]);
  });

  it("refuse wrong calls", async () => {
    const refused = (call: Promise<unknown>, message: RegExp) =>
      expect(call).rejects.toMatchObject({ code: "VALIDATION", message: expect.stringMatching(message) });
    await refused(dropDuplicates(visits, { keep: "any" as never }), /no keep "any".*first, last, none/);
    await refused(dropDuplicates(visits, { kep: "last" } as never), /Did you mean "keep"\?/);
    await refused(dropDuplicates(visits, { on: ["usr"] }), /Did you mean "user"\?/);
    await refused(valueCounts(visits, "usr"), /Did you mean "user"\?/);
    await refused(valueCounts(visits, ["user"] as never), /column is an Array/);
    await refused(valueCounts(visits, "user", { as: 1 } as never), /as is 1/);
    await refused(valueCounts(visits, "user", { as: "user" }), /two columns "user"/);
    await refused(valueCounts(visits, "user", { by: ["user"] } as never), /no option "by"/);
  });
});
