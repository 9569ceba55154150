// The row join on the GPU against nested loops over the same key columns.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Engine } from "../../../../src/engine/engine.js";
import type { ByteColumn, KeyColumn, RowKeys, WordColumn } from "../../../../src/engine/rows.js";
import { openGpu } from "../helpers/open-gpu.js";

let engine: Engine;
let colliding: Engine;
beforeAll(async () => {
  engine = await openGpu();
  colliding = await openGpu({ tuning: { rowHashMask: 0x3 } });
});
afterAll(() => {
  engine.destroy();
  colliding.destroy();
});

function bitmap(valid: boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(valid.length / 8));
  valid.forEach((v, i) => {
    if (v) bytes[i >> 3] |= 1 << (i & 7);
  });
  return bytes;
}

/** A column of numbers or null, `width` words each. */
function words(values: (number | null)[], width = 1): WordColumn {
  const data = new Uint32Array(values.length * width);
  values.forEach((v, i) => {
    for (let w = 0; w < width; w++) data[i * width + w] = ((v ?? 77) * (w + 1)) >>> 0;
  });
  const hasNull = values.includes(null);
  return { kind: "words", width, data, validity: hasNull ? bitmap(values.map((v) => v !== null)) : null };
}

function strings(values: (string | null)[]): ByteColumn {
  const encoded = values.map((v) => new TextEncoder().encode(v ?? ""));
  const starts = new Uint32Array(values.length);
  const ends = new Uint32Array(values.length);
  let at = 0;
  encoded.forEach((bytes, i) => {
    starts[i] = at;
    at += bytes.length;
    ends[i] = at;
  });
  const bytes = new Uint8Array(at);
  encoded.forEach((each, i) => {
    bytes.set(each, starts[i]);
  });
  const hasNull = values.includes(null);
  return {
    kind: "bytes",
    starts,
    ends,
    bytes,
    validity: hasNull ? bitmap(values.map((v) => v !== null)) : null,
  };
}

type Row = (number | string | null)[];

/** Columns of rows; the kind of each column is that of its first value that is not null. */
function keysOf(rows: Row[], kinds: ("words" | "wide" | "bytes")[]): RowKeys {
  const columns: KeyColumn[] = kinds.map((kind, c) => {
    const column = rows.map((row) => row[c]);
    if (kind === "bytes") return strings(column as (string | null)[]);
    return words(column as (number | null)[], kind === "wide" ? 3 : 1);
  });
  return { rows: rows.length, columns };
}

function expected(left: Row[], right: Row[], nullsEqual: boolean): string[] {
  const pairs: string[] = [];
  left.forEach((a, i) => {
    right.forEach((b, j) => {
      if (a.every((v, c) => v === b[c] && (nullsEqual || v !== null))) pairs.push(`${i} ${j}`);
    });
  });
  return pairs.sort();
}

async function check(
  on: Engine,
  left: Row[],
  right: Row[],
  kinds: ("words" | "wide" | "bytes")[],
  nullsEqual = false,
) {
  const pairs = await (await on.rows()).match(keysOf(left, kinds), keysOf(right, kinds), "inner", {
    nullsEqual,
    output: "host",
  });
  const got = Array.from(pairs.left, (l, i) => `${l} ${pairs.right[i]}`).sort();
  expect(got).toEqual(expected(left, right, nullsEqual));
}

let seed = 1;
const random = (below: number) => {
  seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
  return Math.floor((seed / 2 ** 32) * below);
};
const rows = (count: number, make: () => Row) => Array.from({ length: count }, make);

describe("pairs of rows on webgpu", () => {
  it("joins unique build keys", async () => {
    const right = Array.from({ length: 300 }, (_, i): Row => [i * 7]);
    await check(
      engine,
      rows(2000, () => [random(2500)]),
      right,
      ["words"],
    );
    await check(
      engine,
      right,
      rows(2000, () => [random(2500)]),
      ["words"],
    );
  });

  it("joins many to many", async () => {
    const make = (): Row => [random(50)];
    await check(engine, rows(700, make), rows(300, make), ["words"]);
  });

  it("joins one key with most rows of both sides", async () => {
    const make = (): Row => [random(10) < 8 ? 5 : random(1000)];
    await check(engine, rows(600, make), rows(500, make), ["words"]);
  });

  it("joins strings of many lengths", async () => {
    const texts = [
      "",
      "a",
      "ab",
      "abc",
      "abcd",
      "abcde",
      "äöü",
      "😀",
      "x".repeat(10_000),
      `${"x".repeat(9999)}y`,
    ];
    const make = (): Row => [texts[random(texts.length)]];
    await check(engine, rows(200, make), rows(150, make), ["bytes"]);
  });

  it.each([true, false])("joins mixed keys with nulls (nullsEqual %s)", async (nullsEqual) => {
    const make = (): Row => [
      random(5) === 0 ? null : random(4),
      random(5) === 0 ? null : ["", "a", "bc"][random(3)],
      random(9) === 0 ? null : random(3),
    ];
    await check(engine, rows(400, make), rows(350, make), ["words", "bytes", "wide"], nullsEqual);
  });

  it("tells rows apart whose hashes are equal", async () => {
    const make = (): Row => [random(400), `k${random(3)}`];
    await check(colliding, rows(500, make), rows(400, make), ["words", "bytes"]);
  });

  it("answers nothing for empty sides and sides without a match", async () => {
    await check(engine, [], [[1]], ["words"]);
    await check(engine, [[1]], [], ["words"]);
    await check(engine, [[1]], [[2]], ["words"]);
    await check(engine, [[null]], [[null]], ["words"]);
  });

  it("joins 33 columns, a null bit past the first word among them", async () => {
    const kinds = Array.from({ length: 33 }, () => "words" as const);
    const make = (): Row => [
      ...Array.from({ length: 31 }, () => 1),
      random(2),
      random(3) === 0 ? null : random(3),
    ];
    await check(engine, rows(80, make), rows(70, make), kinds, true);
    await check(engine, rows(80, make), rows(70, make), kinds, false);
  });

  it("joins more rows than one scan tile holds", async () => {
    const n = 10_000;
    const left = Uint32Array.from({ length: n }, () => random(n));
    const right = Uint32Array.from({ length: n }, () => random(n));
    const column = (data: Uint32Array): RowKeys => ({
      rows: n,
      columns: [{ kind: "words", width: 1, data, validity: null }],
    });
    const counts = new Map<number, number>();
    for (const key of right) counts.set(key, (counts.get(key) ?? 0) + 1);
    const total = left.reduce((sum, key) => sum + (counts.get(key) ?? 0), 0);
    const pairs = await (await engine.rows()).match(column(left), column(right), "inner", {
      nullsEqual: false,
      output: "host",
    });
    expect(pairs.left.length).toBe(total);
    expect(pairs.left.every((l, i) => left[l] === right[pairs.right[i]])).toBe(true);
    expect(new Set(Array.from(pairs.left, (l, i) => l * n + pairs.right[i])).size).toBe(total);
  });
});
