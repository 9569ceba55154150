/** Columns to reduce by group on the webgpu engine, and what a loop over their rows makes of them. Values are bits. */
import { expect } from "vitest";
import { type DeviceColumn, destroyColumns, type Words } from "../../../../src/engine/device-columns.js";
import { reduceGroups } from "../../../../src/engine/gpu/reduce/reduce-groups.js";
import type { NumberForm, ReduceCall, Reduction } from "../../../../src/engine/reductions.js";
import { inOrder } from "../../../../src/relational/aggregate/group-rows.js";
import { exactSum } from "../../../helpers/exact-sum.js";
import type { GpuEngine } from "../helpers/open-gpu.js";

/** A type of numbers. */
export interface NumberKind {
  readonly bits: 1 | 8 | 16 | 32 | 64 | 128 | 256;
  readonly form: NumberForm;
  /** Decimals: what their means are divided by. */
  readonly unit?: number;
}

export const numberKinds: readonly NumberKind[] = [
  { bits: 1, form: "unsigned" },
  ...([8, 16, 32, 64] as const).flatMap((bits) => [
    { bits, form: "unsigned" } as const,
    { bits, form: "signed" } as const,
  ]),
  ...([16, 32, 64] as const).map((bits) => ({ bits, form: "float" }) as const),
];

type Bits = readonly (bigint | null)[];

export interface TestColumn extends NumberKind {
  readonly values: Bits;
  /** Of doubles: they are of magnitudes that are not too far apart. */
  readonly isNarrow?: boolean;
}

const INTEGER_EDGES = [0n, 1n, -1n, -2n, 1n << 63n, 1n << 31n, 1n << 7n, (1n << 63n) - 1n];
/** Zeros, infinities, NaNs, one, and the least number above 0. */
const FLOAT_EDGES: { readonly [bits: number]: readonly bigint[] } = {
  16: [0n, 0x8000n, 0x7c00n, 0xfc00n, 0x7e01n, 0xfe00n, 0x3c00n, 1n],
  32: [0n, 0x80000000n, 0x7f800000n, 0xff800000n, 0x7fc00001n, 0xffc00000n, 0x3f800000n, 1n],
  64: [0n, 1n << 63n, 0x7ffn << 52n, 0xfffn << 52n, (0x7ffn << 52n) | 1n, 0xfff8n << 48n, 0x3ffn << 52n, 1n],
};

/** A value of a kind that follows from a number: an edge, or any. */
export function bitsOf({ bits, form }: NumberKind, number: number): bigint {
  const word = (factor: number) => BigInt(Math.imul(number + 1, factor) >>> 0);
  const edges = form === "float" ? FLOAT_EDGES[bits] : INTEGER_EDGES;
  const isEdge = number % 3 === 0;
  return BigInt.asUintN(
    bits,
    isEdge ? edges[(number / 3) % edges.length] : (word(0x9e3779b1) << 32n) | word(0x85ebca6b),
  );
}

/** Keys of one word, or of two where they are bigints; null keys are one group. */
type Keys = readonly (number | null)[] | readonly (bigint | null)[];

/**
 * Reduces columns by group in every way there is, or of some kinds, and compares with a loop over the rows. Returns the number of groups.
 */
export async function check(
  engine: GpuEngine,
  groupOf: Keys,
  columns: readonly TestColumn[],
  call: ReduceCall = {},
  kinds?: readonly Reduction["kind"][],
): Promise<number> {
  const uploaded = await Promise.all(columns.map((column) => upload(engine, column)));
  const asked = [
    { what: "rows", reduction: { kind: "count", column: null } as Reduction, of: undefined },
    ...columns.flatMap((of, c) =>
      reductionsOf(uploaded[c], of)
        .filter(({ kind }) => kinds?.includes(kind) ?? true)
        .map((reduction) => ({ what: `${reduction.kind} of ${of.form} ${of.bits}`, reduction, of })),
    ),
  ];
  const keys = { kind: "words", ...wordsOf(groupOf), validity: validityOf(groupOf) } as const;
  const {
    groups,
    columns: reduced,
    groupOf: numbers,
  } = await reduceGroups(
    engine.tableHost,
    { rows: groupOf.length, columns: [keys] },
    asked.map(({ reduction }) => reduction),
    call,
  );
  const rowsOf = rowsByGroup(groupOf);
  expect(groups).toBe(rowsOf.length);
  expect(numbers !== null).toBe(call.numbered === true);
  if (numbers) {
    const { firsts, groupOf: numbered } = inOrder(await numbers.read(), groups);
    expect([...firsts]).toEqual(rowsOf.map(([row]) => row));
    expect(numbered.findIndex((group, row) => groupOf[firsts[group]] !== groupOf[row])).toBe(-1);
    expect(numbered.length).toBe(groupOf.length);
  }
  numbers?.destroy();
  for (const [i, { what, reduction, of }] of asked.entries()) {
    const found = await readBits(reduced[i], groups);
    const expected = of
      ? rowsOf.map((rows) => model(reduction.kind, of, rows))
      : rowsOf.map((rows) => BigInt(rows.length));
    const differs = found.findIndex((value, group) => value !== expected[group]);
    // one value, for a difference of long lists takes seconds to print
    expect([what, differs, found[differs]]).toEqual([what, -1, expected[differs]]);
  }
  destroyColumns([...uploaded, ...reduced]);
  return groups;
}

/** What lies under nulls is any key. */
function wordsOf(keys: Keys): { width: number; data: Uint32Array } {
  const isWide = keys.some((key) => typeof key === "bigint");
  const bits = Array.from<number | bigint | null, bigint>(keys, (key, row) => BigInt(key ?? row * 5));
  if (!isWide) return { width: 1, data: Uint32Array.from(bits, Number) };
  return { width: 2, data: new Uint32Array(BigInt64Array.from(bits).buffer) };
}

function validityOf(keys: Keys): Uint8Array | null {
  if (!keys.includes(null)) return null;
  const bits = new Uint8Array(Math.ceil(keys.length / 8));
  for (const [row, key] of keys.entries()) if (key !== null) bits[row >> 3] |= 1 << (row & 7);
  return bits;
}

function reductionsOf(column: DeviceColumn, { form, bits, unit, isNarrow }: TestColumn): Reduction[] {
  const any = (["first", "last", "count"] as const).map((kind) => ({ kind, column }));
  const ordered = (["least", "greatest"] as const).map((kind) => ({ kind, column, form }));
  if (form === "float" && bits === 64 && !isNarrow) return [...any, ...ordered];
  const sum = { kind: "sum", column, form, isDecimal: unit !== undefined } as const;
  return [...any, ...ordered, sum, { kind: "mean", column, form, ...(unit && { unit }) }];
}

/** The rows of each group, in the order of their first rows. */
function rowsByGroup(groupOf: Keys): number[][] {
  const rows = new Map<number | bigint | null, number[]>();
  for (const [row, group] of groupOf.entries()) {
    const known = rows.get(group);
    if (known) known.push(row);
    else rows.set(group, [row]);
  }
  return [...rows.values()];
}

function model(kind: Reduction["kind"], column: TestColumn, rows: readonly number[]): bigint | null {
  const { values, bits, form } = column;
  if (kind === "first") return values[rows[0]];
  if (kind === "last") return values[rows[rows.length - 1]];
  const present = rows.map((row) => values[row]).filter((value) => value !== null);
  if (kind === "count") return BigInt(present.length);
  if (present.length === 0) return null;
  if (kind === "least" || kind === "greatest") {
    const sign = kind === "least" ? -1 : 1;
    return present.reduce((best, value) => (compare(column, value, best) * sign > 0 ? value : best));
  }
  if (form === "float") {
    const sum = exactSum(present.map((value) => floatOf(bits, value)));
    return doubleBits(kind === "sum" ? sum : sum / present.length);
  }
  const numbers = form === "signed" ? present.map((value) => BigInt.asIntN(bits, value)) : present;
  const sum = numbers.reduce((a, b) => a + b, 0n);
  if (kind === "mean") return doubleBits(Number(sum) / (present.length * (column.unit ?? 1)));
  return BigInt.asUintN(column.unit === undefined ? 2 * Math.max(32, bits) : Math.max(128, bits), sum);
}

/** Of the NaN that has no sign. */
export function doubleBits(number: number): bigint {
  const double = Number.isNaN(number) ? Number.NaN : number;
  return new BigUint64Array(Float64Array.of(double).buffer)[0];
}

function compare({ bits, form }: NumberKind, a: bigint, b: bigint): number {
  if (form === "float") {
    const [x, y] = [a, b].map((value) => floatOf(bits, value));
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
    return x - y || 0;
  }
  const [x, y] = form === "signed" ? [BigInt.asIntN(bits, a), BigInt.asIntN(bits, b)] : [a, b];
  return x < y ? -1 : x > y ? 1 : 0;
}

function floatOf(bits: number, value: bigint): number {
  const view = new DataView(new ArrayBuffer(8));
  if (bits === 64) {
    view.setBigUint64(0, value);
    return view.getFloat64(0);
  }
  if (bits === 32) {
    view.setUint32(0, Number(value));
    return view.getFloat32(0);
  }
  const [sign, exponent, fraction] = [value >> 15n, Number((value >> 10n) & 31n), Number(value & 1023n)];
  const magnitude =
    exponent === 31
      ? fraction > 0
        ? Number.NaN
        : Number.POSITIVE_INFINITY
      : exponent === 0
        ? fraction * 2 ** -24
        : (1024 + fraction) * 2 ** (exponent - 25);
  return sign > 0n ? -magnitude : magnitude;
}

/** What lies under nulls, and behind the last value, is not to be looked at. */
async function upload(engine: GpuEngine, { bits, values }: TestColumn): Promise<DeviceColumn> {
  const words = packed(
    bits,
    values.map((value, row) => value ?? BigInt(row * 7 + 3)),
  );
  const data = await engine.upload("u32", words);
  const bitmap = packed(
    1,
    values.map((value) => (value === null ? 0n : 1n)),
  );
  const validity = values.includes(null) ? await engine.upload("u32", bitmap) : null;
  return {
    values: bits === 1 ? { kind: "bits", data } : { kind: "fixed", width: bits / 8, data },
    validity,
  };
}

function packed(bits: number, values: readonly bigint[]): Uint32Array {
  const words = new Uint32Array(Math.ceil((values.length * bits) / 32)).fill(0xaaaaaaaa);
  for (const [row, value] of values.entries()) {
    for (let bit = 0; bit < bits; bit += 32) {
      const at = row * bits + bit;
      const mask = bits < 32 ? 2 ** bits - 1 : 0xffffffff;
      const part = Number((value >> BigInt(bit)) & BigInt(mask));
      words[at >>> 5] = (words[at >>> 5] & ~(mask << (at & 31))) | (part << (at & 31));
    }
  }
  return words;
}

async function readBits({ values, validity }: DeviceColumn, count: number): Promise<Bits> {
  const { data, ...layout } = values as { data: Words; width?: number };
  const bits = (layout.width ?? 1 / 8) * 8;
  const words = await data.read();
  const valid = validity && (await validity.read());
  return Array.from({ length: count }, (_, row) => {
    if (valid && ((valid[row >>> 5] >>> (row & 31)) & 1) === 0) return null;
    let value = 0n;
    for (let bit = 0; bit < bits; bit += 32) {
      const at = row * bits + bit;
      value |= BigInt(words[at >>> 5] >>> (at & 31)) << BigInt(bit);
    }
    return BigInt.asUintN(bits, value);
  });
}
