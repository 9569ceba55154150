// GroupBy, and group-bys and distincts of batches: their own arguments. Groups beside DuckDB's: random-groups.test.ts.
import type * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { describe, expect, it } from "vitest";
import {
  type Aggregate,
  count,
  countDistinct,
  distinct,
  first,
  GroupBy,
  groupBy,
  JoinIndex,
  last,
  max,
  mean,
  median,
  quantile,
  std,
  sum,
  variance,
} from "../../../src/relational/index.js";
import { scaled, useDevice } from "../../conformance/helpers/device.js";
import { Random } from "../helpers/random.js";

const device = useDevice();
const n = { n: count() };

async function ofAll(values: unknown, aggregate: Aggregate): Promise<unknown> {
  const x = values as Float64Array;
  const options = { by: ["k"], aggregate: { answer: aggregate }, device: device() };
  return (await groupBy({ k: new Int8Array(x.length), x }, options)).getChild("answer").at(0);
}

describe("variances and quantiles", () => {
  it("are null of too few values", async () => {
    expect(await ofAll([3], variance("x"))).toBeNull();
    expect(await ofAll([3, null], std("x"))).toBeNull();
    expect(await ofAll([3], variance("x", { population: true }))).toBe(0);
    expect(await ofAll([null], std("x", { population: true }))).toBeNull();
    expect(await ofAll([null], median("x"))).toBeNull();
    expect(await ofAll([null], quantile("x", [0.5]))).toBeNull();
  });

  it("lose nothing far from 0", async () => {
    const far = Float64Array.of(4, 7, 13, 16).map((x) => x + 1e9);
    expect(await ofAll(far, variance("x"))).toBe(30);
    const inBatches = new GroupBy({ by: ["k"], aggregate: { v: variance("x") }, device: device() });
    for (const x of far) await inBatches.add({ k: Int8Array.of(0), x: Float64Array.of(x) });
    expect((await inBatches.finish()).getChild("v").at(0)).toBeCloseTo(30, 5);
  });

  it("lie between values, NaN above all of them", async () => {
    const values = Float64Array.of(9, Number.NaN, 1, -0, 4);
    expect(await ofAll(values, median("x"))).toBe(4);
    expect(await ofAll(values, quantile("x", 1))).toBeNaN();
    expect([...((await ofAll(values, quantile("x", [0, 0.25, 0.625]))) as Float64Array)]).toEqual([
      0, 1, 6.5,
    ]);
    expect(await ofAll(BigInt64Array.of(2n ** 60n, 0n), median("x"))).toBe(2 ** 59);
    expect(await ofAll([true, false, true, true], quantile("x", 0.5))).toBe(1);
  });

  it("refuse wrong arguments", async () => {
    expect(() => quantile("x", 1.5)).toThrow(/part of quantile is 1\.5/);
    expect(() => quantile("x", [])).toThrow(/part of quantile is an Array/);
    expect(() => (quantile as (x: string) => Aggregate)("x")).toThrow(/part of quantile is undefined/);
    expect(() => std("x", { sample: true } as never)).toThrow(/no option "sample"/);
    expect(() => std("x", { population: 1 } as never)).toThrow(/population is 1/);
    await expect(ofAll(["a"], median("x"))).rejects.toThrow(
      /no median of column "x".*A median is of booleans/,
    );
  });
});

describe("batches", () => {
  it("of lists, whose dictionaries differ, group as one table", async () => {
    const random = new Random(3);
    const rows = scaled(4000, 600);
    const city = Array.from({ length: rows }, () =>
      random.below(9) ? `city ${random.below(rows / 8)}` : null,
    );
    const x = Float64Array.from({ length: rows }, () => random.below(1000) / 8);
    const aggregate = {
      n: count(),
      x: sum("x"),
      most: max("city"),
      different: countDistinct("x"),
      middle: median("x"),
      mean: mean("x"),
      first: first("city"),
      last: last("x"),
    };
    const options = { by: ["city"], aggregate, device: device() };
    const groups = new GroupBy(options);
    for (let from = 0; from < rows; from += 170) {
      await groups.add({ city: city.slice(from, from + 170), x: x.subarray(from, from + 170) });
    }
    const whole = await groupBy({ city, x }, options);
    const made = await groups.finish();
    expect(made.toArray()).toEqual(whole.toArray());
    expect(groups.rows).toBe(rows);
    // and no dictionary has values that no group has
    const { dictionary } = made.getChild("city").data[0] as unknown as {
      dictionary: flechette.Column<string>;
    };
    expect(dictionary.length).toBeLessThanOrEqual(made.numRows);
    expect((await groups.finish()).toArray()).toEqual(whole.toArray());
  });

  it("may come from iterables, async iterables, and readers of apache-arrow", async () => {
    const table = apache.tableFromArrays({ k: Int32Array.of(1, 2, 1), x: Float64Array.of(4, 5, 6) });
    const bytes = apache.tableToIPC(table.concat(table));
    const options = { by: ["k"], aggregate: { n: count(), x: sum("x") }, device: device() };
    const expected = [
      { k: 1, n: 4, x: 20 },
      { k: 2, n: 2, x: 10 },
    ];
    const inTurn = async function* () {
      yield { k: Int32Array.of(1, 2, 1), x: Float64Array.of(4, 5, 6) };
      yield table;
    };
    for (const batches of [
      [table, table],
      [table, table].values(),
      inTurn(),
      apache.RecordBatchReader.from(bytes),
      apache.RecordBatchReader.from(
        (async function* () {
          yield bytes;
        })(),
      ),
    ]) {
      const given = (await batches) as ReturnType<typeof inTurn>;
      expect((await groupBy(given, options)).toArray()).toEqual(expected);
    }
    expect((await distinct(inTurn(), { on: ["k"], device: device() })).toArray()).toEqual([
      { k: 1, x: 4 },
      { k: 2, x: 5 },
    ]);
    expect((await distinct(inTurn(), { device: device() })).numRows).toBe(3);
  });

  it("queue up, and one that fails adds nothing", async () => {
    const groups = new GroupBy({ by: ["k"], aggregate: n, device: device() });
    await expect(groups.finish()).rejects.toThrow(/No batch was added/);
    const adding = [
      groups.add([{ k: 1 }]),
      groups.add([{ x: 1 }]).catch((error) => error.message),
      groups.add({ k: ["one"] }).catch((error) => error.message),
      groups.add({ k: Int8Array.of(2, 1) }),
    ];
    const made = await groups.finish();
    expect(made.toArray()).toEqual([
      { k: 1, n: 2 },
      { k: 2, n: 1 },
    ]);
    const [, unknown, other] = await Promise.all(adding);
    expect(unknown).toMatch(/no column "k"/);
    expect(other).toMatch(
      /"k" is of type dictionary of utf8 in this batch, and of type int8 in the ones before/,
    );
    expect(groups.rows).toBe(3);
  });

  it("merge those of another GroupBy with the same keys and aggregates", async () => {
    const make = (aggregate: Record<string, Aggregate> = n) =>
      new GroupBy({ by: ["k"], aggregate, device: device() });
    const [a, b] = [make(), make()];
    await b.add([{ k: 2 }, { k: 1 }]);
    await a.merge(make());
    await a.merge(b);
    await a.add([{ k: 1 }]);
    expect((await a.finish()).toArray()).toEqual([
      { k: 2, n: 1 },
      { k: 1, n: 2 },
    ]);
    expect((await b.finish()).numRows).toBe(2);
    await expect(a.merge(make({ n: count("k") }))).rejects.toThrow(/other keys or aggregates/);
    await expect(a.merge(a)).rejects.toThrow(/other is/);
    await expect(a.merge({} as never)).rejects.toThrow(/other is/);
    expect(() => new GroupBy({ by: [], aggregate: n })).toThrow(/GroupBy needs at least one key column/);
  });

  it("merge into each other, at once", async () => {
    const [a, b] = [1, 2].map(() => new GroupBy({ by: ["k"], aggregate: n, device: device() }));
    await Promise.all([a.add([{ k: 1 }]), b.add([{ k: 2 }]), a.merge(b), b.merge(a)]);
    expect((await a.finish()).toArray()).toEqual([
      { k: 1, n: 1 },
      { k: 2, n: 1 },
    ]);
    expect((await b.finish()).toArray()).toEqual([
      { k: 2, n: 2 },
      { k: 1, n: 1 },
    ]);
  });

  it("without rows make a table without rows", async () => {
    const groups = new GroupBy({ by: ["k"], aggregate: { n: count(), m: median("k") }, device: device() });
    await groups.add({ k: new Int32Array(0) });
    await groups.add({ k: new Int32Array(0) });
    expect((await groups.finish()).numRows).toBe(0);
    await groups.add({ k: Int32Array.of(7) });
    expect((await groups.finish()).toArray()).toEqual([{ k: 7, n: 1, m: 7 }]);
    const none = (async function* () {})();
    await expect(groupBy(none, { by: ["k"], aggregate: n })).rejects.toThrow(/No batch was added/);
    await expect(distinct([].values(), { on: ["k"] })).rejects.toThrow(/No batch with columns was given/);
  });
});

it("an abort is heard while a batch is awaited, and ends the reading", async () => {
  const calls: ((batches: AsyncIterable<object[]>, signal: AbortSignal) => Promise<unknown>)[] = [
    (batches, signal) => groupBy(batches, { by: ["k"], aggregate: n, device: device(), signal }),
    (batches, signal) => distinct(batches, { device: device(), signal }),
    async (batches, signal) => {
      const index = await JoinIndex.create(device(), [{ k: 1 }], { on: ["k"] });
      for await (const _ of index.joinAll(batches, { signal }));
    },
  ];
  for (const call of calls) {
    const abort = new AbortController();
    let asked = 0;
    let ended = false;
    const batches = {
      [Symbol.asyncIterator]: () => ({
        async next(): Promise<IteratorResult<object[]>> {
          if (asked++ === 0) return { done: false, value: [{ k: 1 }] };
          queueMicrotask(() => abort.abort(new Error("enough")));
          return new Promise(() => {}); // it never comes
        },
        async return(): Promise<IteratorResult<object[]>> {
          ended = true;
          return { done: true, value: undefined };
        },
      }),
    };
    await expect(call(batches, abort.signal)).rejects.toThrow("enough");
    expect([asked, ended]).toEqual([2, true]);
  }
});
