// The join function itself: arguments, names and order of columns, stages, progress, abort, what is shared with the input.
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import { describe, expect, it } from "vitest";
import { openDevice, ValidationError } from "../../../src/index.js";
import { type ArrowTable, type JoinOptions, join } from "../../../src/relational/index.js";
import { useDevice } from "../../conformance/helpers/device.js";
import { planned } from "../../conformance/helpers/plan.js";

const device = useDevice();

const flights = flechette.tableFromArrays({
  origin: ["SFO", "JFK", "SFO", null, "XXX"],
  delay: [12, 3, -4, 5, 6],
  name: ["a", "b", "c", "d", "e"],
});
const airports = flechette.tableFromArrays({
  iata: ["SFO", "JFK", "LAX", null],
  name: ["San Francisco", "Kennedy", "Los Angeles", "?"],
  delay: [1, 2, 3, 4],
});

const run = (left: ArrowTable, right: ArrowTable, options: Partial<JoinOptions> & Pick<JoinOptions, "on">) =>
  join(left, right, { device: device(), ...options });

/** Rows as objects, in a fixed order. */
function rows(table: flechette.Table): object[] {
  const text = (row: object) =>
    JSON.stringify(row, (_, value) => (typeof value === "bigint" ? String(value) : value));
  return table.toArray().sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

describe("columns of the result", () => {
  it("are the left's, then the right's without its keys; clashes get _right", async () => {
    const joined = await run(flights, airports, { on: [["origin", "iata"]] });
    expect(joined).toBeInstanceOf(flechette.Table);
    expect(joined.names).toEqual(["origin", "delay", "name", "name_right", "delay_right"]);
    expect(rows(joined)).toEqual([
      { origin: "JFK", delay: 3, name: "b", name_right: "Kennedy", delay_right: 2 },
      { origin: "SFO", delay: -4, name: "c", name_right: "San Francisco", delay_right: 1 },
      { origin: "SFO", delay: 12, name: "a", name_right: "San Francisco", delay_right: 1 },
    ]);
  });

  it("get _right again until the name is free", async () => {
    const left = flechette.tableFromArrays({ k: [1], v: [1], v_right: [2] });
    const right = flechette.tableFromArrays({ k: [1], v: [3], v_right: [4], v_right_right: [5] });
    const joined = await run(left, right, { on: ["k"] });
    expect(joined.names).toEqual([
      "k",
      "v",
      "v_right",
      "v_right_right",
      "v_right_right_right",
      "v_right_right_right_right",
    ]);
    expect(joined.at(0)).toEqual({
      k: 1,
      v: 1,
      v_right: 2,
      v_right_right: 3,
      v_right_right_right: 4,
      v_right_right_right_right: 5,
    });
  });

  it("keep types, nullability, metadata and the way values are read", async () => {
    const when = flechette.tableFromColumns({
      id: flechette.columnFromArray([1, 2], flechette.int16()),
      at: flechette.columnFromArray([new Date(0), new Date(86_400_000)], flechette.timestamp(), {
        useDate: true,
      }),
      big: flechette.columnFromArray([2n ** 60n, -1n], flechette.int64(), { useBigInt: true }),
      tag: flechette.columnFromArray(["x", "y"], flechette.dictionary(flechette.utf8(), flechette.int8())),
    });
    const metadata = new Map([["unit", "days"]]);
    const schema = {
      ...when.schema,
      fields: when.schema.fields.map((field) => ({ ...field, nullable: false, metadata })),
    };
    const joined = await run(
      new flechette.Table(schema, when.children),
      flechette.tableFromArrays({ id: [2, 1, 2] }),
      { on: ["id"] },
    );
    expect(joined.schema.fields.map(({ nullable, metadata: kept }) => [nullable, kept])).toEqual(
      schema.fields.map(() => [false, metadata]),
    );
    expect(joined.schema.fields[0].type).toEqual(flechette.int16());
    expect(joined.schema.fields[3].type).toEqual(when.schema.fields[3].type);
    expect(rows(joined)).toEqual(
      [
        { id: 1, at: new Date(0), big: 2n ** 60n, tag: "x" },
        { id: 2, at: new Date(86_400_000), big: -1n, tag: "y" },
        { id: 2, at: new Date(86_400_000), big: -1n, tag: "y" },
      ].sort((a, b) => a.id - b.id),
    );
  });

  it("of a side that comes through whole share its memory", async () => {
    const left = flechette.tableFromArrays({ k: Int32Array.of(3, 1, 2, 1), v: Float64Array.of(1, 2, 3, 4) });
    const right = flechette.tableFromArrays({ k: Int32Array.of(1, 2, 3) });
    const joined = await run(left, right, { on: ["k"] });
    expect(joined.toArray()).toEqual(left.toArray());
    expect(joined.getChild("v").data[0].values.buffer).toBe(left.getChild("v").data[0].values.buffer);
  });

  it("are there when no row matches, and for tables without rows", async () => {
    const nothing = await run(flights, flechette.tableFromArrays({ iata: ["none"], x: [1] }), {
      on: [["origin", "iata"]],
    });
    expect([nothing.numRows, nothing.names]).toEqual([0, ["origin", "delay", "name", "x"]]);
    const fields = [
      flechette.field("iata", flechette.utf8()),
      flechette.field("x", flechette.list(flechette.dictionary(flechette.utf8()))),
    ];
    const empty = new flechette.Table(
      { fields },
      fields.map(({ type }) => new flechette.Column([], type)),
    );
    const joined = await run(flights, empty, { on: [["origin", "iata"]] });
    const written = flechette.tableFromIPC(flechette.tableToIPC(joined, { format: "file" }) as Uint8Array);
    expect([written.numRows, written.names]).toEqual([0, ["origin", "delay", "name", "x"]]);
  });
});

describe("options", () => {
  it("on: one name for both sides, or pairs", async () => {
    const left = flechette.tableFromArrays({ a: [1, 2], b: [1, 1], v: ["x", "y"] });
    const right = flechette.tableFromArrays({ b: [1, 1], c: [1, 2], w: ["p", "q"] });
    const joined = await run(left, right, { on: ["b", ["a", "c"]] });
    expect(rows(joined)).toEqual([
      { a: 1, b: 1, v: "x", w: "p" },
      { a: 2, b: 1, v: "y", w: "q" },
    ]);
  });

  it("nullsEqual", async () => {
    const joined = await run(flights, airports, { on: [["origin", "iata"]], nullsEqual: true });
    expect(joined.numRows).toBe(4);
    expect(rows(joined).at(-1)).toMatchObject({ origin: null, name_right: "?" });
  });

  it("onStage and onProgress", async () => {
    const stages: string[] = [];
    const progress: [number, number][] = [];
    await run(flights, airports, {
      on: [["origin", "iata"]],
      onStage: (stage, seconds) => {
        expect(seconds).toBeGreaterThanOrEqual(0);
        stages.push(stage);
      },
      onProgress: (done, total) => progress.push([done, total]),
    });
    expect(stages).toEqual(["encode keys", "hash join", "materialise"]);
    const [done, total] = progress.at(-1) as [number, number];
    expect(done).toBe(total);
    expect(total).toBeGreaterThan(0);
  });

  it("onPlan: how rows were matched, and the result is the same", async () => {
    const count = 1000;
    const left = flechette.tableFromArrays({ id: Int32Array.from({ length: count }, (_, i) => i * 65_537) });
    const options = { on: ["id"] };
    const { answer, plan } = await planned((onPlan) => run(left, left, { ...options, onPlan }));
    expect(rows(answer)).toEqual(rows(await run(left, left, options)));
    expect(plan.strategy).toBe("direct");
    expect(plan.strategies.reduce((sum, { chunks }) => sum + chunks, 0)).toBe(plan.chunks);
    // a table of the engine found the partners, or records did
    if (device().backend === "cpu") expect(plan.reason).toMatch(/build/);
    else expect(plan.strategies.map(({ reason }) => reason)).not.toContain("");
    const ms = plan.phases.reduce((sum, { milliseconds }) => sum + milliseconds, 0);
    if (device().backend === "cpu") {
      expect(plan.phases.map(({ name }) => name)).toEqual(["build table", "probe", "write pairs"]);
      expect(plan.chunks).toBe(1);
      expect(ms).toBeGreaterThan(0);
      expect(plan.milliseconds).toBeGreaterThanOrEqual(ms);
    }
    const failing = run(left, left, { on: ["x"], onPlan: () => expect.unreachable("a plan of no join") });
    await expect(failing).rejects.toThrow(ValidationError);
    const reason = new Error("not so");
    const onPlan = () => {
      throw reason;
    };
    await expect(run(left, left, { ...options, onPlan })).rejects.toBe(reason);
  });

  it("signal", async () => {
    const reason = new Error("no more");
    await expect(
      run(flights, airports, { on: [["origin", "iata"]], signal: AbortSignal.abort(reason) }),
    ).rejects.toBe(reason);
    const abort = new AbortController();
    const onStage = (stage: string) => stage === "hash join" && abort.abort(reason);
    await expect(
      run(flights, airports, { on: [["origin", "iata"]], signal: abort.signal, onStage }),
    ).rejects.toBe(reason);
  });

  it("device: without one, one is opened and destroyed", async () => {
    const joined = await join(flights, airports, { on: [["origin", "iata"]] });
    expect(joined.numRows).toBe(3);
  });

  it("a destroyed device rejects", async () => {
    const gone = await openDevice({ backend: "cpu" });
    gone.destroy();
    await expect(join(flights, airports, { on: [["origin", "iata"]], device: gone })).rejects.toMatchObject({
      code: "DEVICE_LOST",
    });
  });
});

describe("wrong calls", () => {
  const refused = async (call: Promise<unknown>, message: string, fix: string) => {
    await expect(call).rejects.toThrow(ValidationError);
    await expect(call).rejects.toThrow(message);
    await expect(call).rejects.toHaveProperty("fix", expect.stringContaining(fix));
  };
  const key = { on: [["origin", "iata"] as const] };

  it("an unknown column is named, with the ones there are", async () => {
    await refused(
      run(flights, airports, { on: [["origen", "iata"]] }),
      'The left table has no column "origen".',
      "origin, delay, name",
    );
    await refused(
      run(flights, airports, { on: ["origin"] }),
      'The right table has no column "origin".',
      "iata, name, delay",
    );
  });

  it("no keys, or keys of another form", async () => {
    await refused(run(flights, airports, { on: [] }), "at least one key column", "on:");
    await refused(run(flights, airports, {} as never), "at least one key column", "on:");
    await refused(run(flights, airports, { on: "id" as never }), 'on is "id", not a list', "on:");
    await refused(
      run(flights, airports, { on: [["a", "b", "c"]] as never }),
      "neither a name nor a pair",
      "on:",
    );
    await refused(run(flights, airports, { on: [7] as never }), "neither a name nor a pair", "on:");
  });

  it("another kind of join", async () => {
    await refused(
      run(flights, airports, { ...key, how: "outer" as never }),
      'no join of kind "outer"',
      '"inner", "left", "right", "full", "semi", "anti"',
    );
  });

  it("options that are unknown, or hold what they cannot", async () => {
    const with_ = (options: object) => run(flights, airports, { ...key, ...options } as never);
    await refused(with_({ nullEqual: true }), 'no option "nullEqual"', 'Did you mean "nullsEqual"?');
    await refused(
      with_({ column: 3 }),
      'no option "column"',
      "The options are on, how, select, dictionaries,",
    );
    await refused(with_({ explain: true }), 'no option "explain"', "onPlan");
    await refused(with_({ nullsEqual: 1 }), "nullsEqual is 1.", "true or false");
    await refused(with_({ signal: {} }), "signal is an Object.", "AbortSignal");
    for (const device of [{}, null, "cpu"]) {
      await refused(with_({ device }), "device is ", "openDevice()");
    }
    for (const name of ["onProgress", "onPlan", "onStage"]) {
      await refused(with_({ [name]: true }), `${name} is true.`, "Give a function.");
    }
    for (const options of [null, undefined, "id", ["id"]]) {
      await refused(join(flights, airports, options as never), "The options are ", "on, how, select");
    }
  });

  it("something that is no table", async () => {
    await refused(
      run("flights" as never, airports, key),
      "The left table is not a table",
      "flechette or apache-arrow",
    );
    await refused(run(flights, null as never, key), "The right table is not a table", "apache-arrow");
  });

  it("keys of nested types, and columns of types that cannot be copied", async () => {
    const lists = flechette.tableFromColumns({
      iata: flechette.columnFromArray([[1], [2]], flechette.list(flechette.int8())),
    });
    await refused(run(flights, lists, key), 'Column "iata" of type list cannot be a key.', "Keys can be");
    const runs = flechette.tableFromColumns({
      iata: flechette.columnFromArray(["a", "b"]),
      r: flechette.columnFromArray([1, 1], flechette.runEndEncoded(flechette.int32(), flechette.int32())),
    });
    await refused(
      run(flights, runs, key),
      'Column "r" of the right table: Arrow type run-end encoded is not supported.',
      "Leave the column out",
    );
  });
});

describe("apache-arrow tables", () => {
  it("join with each other and with flechette's", async () => {
    const left = apache.tableFromArrays({
      id: Int32Array.of(1, 2, 3),
      big: BigInt64Array.of(2n ** 60n, 0n, -1n),
    });
    const right = apache.tableFromArrays({ id: [3, 1], city: ["Rome", "Oslo"] });
    const joined = await run(left, right, { on: ["id"] });
    expect(rows(joined).length).toBe(2);
    expect([...joined.getChild("big")].sort()).toEqual([-1n, 2n ** 60n].sort());
    expect((await run(left, flechette.tableFromArrays({ id: [2, 2] }), { on: ["id"] })).numRows).toBe(2);
  });

  it("read what join returns", async () => {
    const joined = await run(flights, airports, { on: [["origin", "iata"]] });
    const read = apache.tableFromIPC(flechette.tableToIPC(joined, {}) as Uint8Array);
    expect(read.schema.fields.map(({ name }) => name)).toEqual(joined.names);
    expect(JSON.parse(JSON.stringify(read.toArray()))).toEqual(joined.toArray());
  });
});
