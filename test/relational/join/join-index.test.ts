// JoinIndex: batches of one side joined with an index of the other, beside the join of the whole tables.
import type * as flechette from "@uwdata/flechette";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { JOIN_KINDS } from "../../../src/engine/join-kinds.js";
import { openDevice } from "../../../src/index.js";
import { DeviceTable, JoinIndex, join } from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { rounds } from "../../helpers/rounds.js";
import { batchesOf } from "../helpers/group-oracle.js";
import { kinds } from "../helpers/kinds.js";
import { expectSameJoin } from "../helpers/oracle.js";
import { arrowTable, testTable } from "../helpers/tables.js";

const device = useDevice();

const texts = (tables: readonly flechette.Table[]) =>
  tables.flatMap((table) => table.toArray().map((row) => JSON.stringify(row))).sort();

const aColumn = (rows: number, most: number) =>
  fc.array(fc.option(fc.nat(most), { freq: 9 }), { minLength: rows, maxLength: rows });

const aCase = fc
  .record({
    batch: fc.nat(60),
    index: fc.nat(60),
    different: fc.constantFrom(8, 1000),
    text: fc.boolean(),
    dictionary: fc.boolean(),
    how: fc.constantFrom(...JOIN_KINDS),
    side: fc.constantFrom("left" as const, "right" as const),
    nullsEqual: fc.boolean(),
    filtered: fc.boolean(),
    cuts: fc.array(fc.nat(60), { maxLength: 3 }),
    onDevice: fc.record({ batch: fc.boolean(), index: fc.boolean(), output: fc.boolean() }),
  })
  .chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      batch: fc.tuple(aColumn(shape.batch, shape.different), aColumn(shape.batch, 9)),
      index: fc.tuple(aColumn(shape.index, shape.different), aColumn(shape.index, 9)),
    }),
  );

it("any batches have the rows that the whole table has, which are DuckDB's", async () => {
  await fc.assert(
    fc.asyncProperty(aCase, async ({ shape, batch, index }) => {
      const { text, dictionary, side, how, nullsEqual, filtered } = shape;
      const kind = text ? kinds.utf8 : kinds.int32;
      const value = (x: number | null) =>
        x === null ? null : text ? `key ${"x".repeat(x % 90)}${x}` : BigInt(x);
      const whole = (x: number | null) => (x === null ? null : BigInt(x));
      const table = ([keys, numbers]: (number | null)[][], name: string) =>
        testTable([
          { name: "k", kind, values: keys.map(value), dictionary: text && dictionary },
          { name, kind: kinds.int32, values: numbers.map(whole) },
        ]);
      const [batches, indexed] = [table(batch, "a"), table(index, "b")];
      const test = ({ a, b }: { a: number | null; b: number | null }) => a !== null && b !== null && a < b;
      const where = filtered ? { columns: ["a", "b"], test } : undefined;
      const [left, right] = side === "left" ? [batches, indexed] : [indexed, batches];
      const sql = side === "left" ? 'l."a" < r."b"' : 'r."a" < l."b"';
      const on = [["k", "k"]] as const;
      await expectSameJoin(device(), { left, right, on, how, nullsEqual, where, sql });
      const expected = await join(arrowTable(left), arrowTable(right), {
        on,
        how,
        nullsEqual,
        where,
        device: device(),
      });
      const { inUse } = device().memory;
      const there = {
        batch: shape.onDevice.batch && (await device().uploadTable(arrowTable(batches))),
        index: shape.onDevice.index && (await device().uploadTable(arrowTable(indexed))),
      };
      const made = await JoinIndex.create(device(), there.index || arrowTable(indexed), {
        on: ["k"],
        nullsEqual,
      });
      const output = shape.onDevice.output ? "device" : "host";
      // twice: what the index has made for the first is used again
      for (let again = 0; again < 2; again++) {
        const joined = await made.join(there.batch || arrowTable(batches), { how, side, where, output });
        const brought = joined instanceof DeviceTable ? await joined.toArrow() : joined;
        expect(joined instanceof DeviceTable).toBe(shape.onDevice.output);
        if (joined instanceof DeviceTable) joined.destroy();
        expect(texts([brought])).toEqual(texts([expected]));
      }
      expect(texts([await made.join(arrowTable(batches), { how, side, where })])).toEqual(texts([expected]));
      const tables: flechette.Table[] = [];
      for await (const each of made.joinAll(batchesOf(batches, shape.cuts), { how, side, where }))
        tables.push(each);
      expect(texts(tables)).toEqual(texts([expected]));
      made.destroy();
      for (const table of [there.batch, there.index]) if (table) table.destroy();
      await vi.waitFor(() => expect(device().memory.inUse).toBeLessThanOrEqual(inUse));
    }),
    { numRuns: rounds(scaled(40, 8)) },
  );
});

describe("an index", () => {
  const airports = {
    iata: ["SFO", "JFK", "OAK"],
    city: ["San Francisco", "New York", "Oakland"],
    x: [1, 2, 3],
  };
  const make = () => JoinIndex.create(device(), airports, { on: ["iata"] });

  it("tells the last stage of a batch, and its plan, before the rows come", async () => {
    using index = await make();
    const told: string[] = [];
    const options = {
      onStage: (stage: string) => told.push(stage),
      onPlan: () => told.push("plan"),
    };
    const ofBatch = ["encode keys", "hash join", "materialise", "plan"];
    async function* batches(...names: string[]) {
      for (const name of names) yield { iata: [name] };
    }
    for await (const _ of index.joinAll(batches("JFK", "OAK"), options)) {
      expect(told.splice(0)).toEqual(ofBatch);
    }
    // of semi joins of the index no row is known before the end
    const semi = { ...options, how: "semi", side: "right" } as const;
    for await (const { numRows } of index.joinAll(batches("JFK"), semi)) expect(numRows).toBe(1);
    expect(told).toEqual(["encode keys", "hash join", "plan"]);
  });

  it("answers what is asked for, under the names of a join", async () => {
    using index = await make();
    expect(index.rows).toBe(3);
    const batch = { origin: ["JFK", "XXX", "JFK"], x: [7, 8, 9] };
    const left = await index.join(batch, { on: ["origin"], how: "left", select: ["x_right", "city", "x"] });
    expect([left.names, texts([left])]).toEqual([
      ["x_right", "city", "x"],
      [
        '{"x_right":2,"city":"New York","x":7}',
        '{"x_right":2,"city":"New York","x":9}',
        '{"x_right":null,"city":null,"x":8}',
      ],
    ]);
    const turned = await index.join(batch, { on: ["origin"], side: "right", how: "anti" });
    expect([...turned.getChild("iata")].sort()).toEqual(["OAK", "SFO"]);
    const stages: string[] = [];
    let plans = 0;
    await index.join(batch, {
      on: ["origin"],
      onStage: (stage) => stages.push(stage),
      onPlan: () => plans++,
    });
    expect([stages, plans]).toEqual([["encode keys", "hash join", "materialise"], 1]);
  });

  it("compares keys of other types by value", async () => {
    using index = await JoinIndex.create(device(), { k: Int32Array.of(1, 2, -1, 1) }, { on: ["k"] });
    for (const k of [
      BigInt64Array.of(1n, -1n, 2n ** 40n),
      Float64Array.of(1, -1, 0.5),
      Int8Array.of(1, -1, 0),
    ]) {
      expect((await index.join({ k })).numRows).toBe(3);
      expect((await index.join({ k }, { side: "right" })).numRows).toBe(3);
    }
    await expect(index.join({ k: ["1"] })).rejects.toThrow(/cannot be compared/);
  });

  it("of a table on the device is probed by tables there, and widens keys on the host", async () => {
    const table = await device().uploadTable({ k: Int32Array.of(1, 2, -1, 1), city: ["a", "b", "c", "d"] });
    using batch = await device().uploadTable({ id: BigInt64Array.of(1n, 2n ** 40n, -1n) });
    using index = await JoinIndex.create(device(), table, { on: ["k"] });
    const on = ["id"];
    using joined = await index.join(batch, { on, how: "left", output: "device" });
    expect([joined.names, texts([await joined.toArrow()])]).toEqual([
      ["id", "city"],
      [
        '{"id":-1,"city":"c"}',
        '{"id":1,"city":"a"}',
        '{"id":1,"city":"d"}',
        '{"id":1099511627776,"city":null}',
      ],
    ]);
    const semi = await index.join(batch, { on, how: "semi", side: "right", select: ["city"] });
    expect([...semi.getChild("city")].sort()).toEqual(["a", "c", "d"]);
    const anti = await index.join(batch, { on, how: "anti", side: "right", select: ["city"] });
    expect([...anti.getChild("city")]).toEqual(["b"]);
    await expect(index.join(batch, { on, output: "gpu" as never })).rejects.toThrow("output");
    const other = await openDevice({ backend: "cpu" });
    await expect(JoinIndex.create(other, table, { on: ["k"] })).rejects.toThrow(/different devices/);
    using elsewhere = await other.uploadTable({ id: Int32Array.of(1) });
    await expect(index.join(elsewhere, { on })).rejects.toThrow(/different devices/);
    other.destroy();
    table.destroy();
    await expect(index.join(batch, { on })).rejects.toThrow(/table was destroyed/);
  });

  it("is made for all who wait for it, whoever asked first and gave up", async () => {
    const ids = Int32Array.from({ length: 300_000 }, (_, i) => i);
    using index = await JoinIndex.create(device(), { id: ids }, { on: ["id"] });
    const batch = { id: BigInt64Array.of(1n, 2n, -1n) };
    const controller = new AbortController();
    const given = index.join(batch, { signal: controller.signal });
    const other = index.join(batch);
    controller.abort(new Error("enough"));
    await expect(given).rejects.toThrow("enough");
    expect((await other).numRows).toBe(2);
  });

  it("refuses wrong calls, and any after its end", async () => {
    const index = await make();
    const refused = (call: Promise<unknown>, message: RegExp) =>
      expect(call).rejects.toMatchObject({ code: "VALIDATION", message: expect.stringMatching(message) });
    await refused(JoinIndex.create(device(), airports, { on: ["ita"] }), /indexed table has no column "ita"/);
    await refused(JoinIndex.create({} as never, airports, { on: ["iata"] }), /device is/);
    await refused(JoinIndex.create(device(), airports, { keys: 1 } as never), /no option "keys"/);
    await refused(index.join({ a: ["x"] }), /left table has no column "iata"/);
    await refused(index.join({ a: ["x"] }, { on: ["a", "b"] }), /on names 2 columns, the index has 1/);
    await refused(index.join({ iata: ["x"] }, { side: "up" as never }), /no side "up"/);
    await refused(index.join({ iata: ["x"] }, { nullsEqual: true } as never), /no option "nullsEqual"/);
    await refused(index.joinAll({ iata: ["x"] } as never).next(), /not iterable/);
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(index.join({ iata: ["x"] }, { signal })).rejects.toThrow("enough");
    await expect(JoinIndex.create(device(), airports, { on: ["iata"], signal })).rejects.toThrow("enough");
    const under = index.join({ iata: ["OAK"] });
    await Promise.resolve();
    index.destroy();
    index.destroy();
    await under.then(
      (made) => expect(made.numRows).toBe(1),
      (error) => expect(error).toMatchObject({ code: "VALIDATION" }),
    );
    await refused(index.join({ iata: ["x"] }), /was destroyed/);
  });
});
