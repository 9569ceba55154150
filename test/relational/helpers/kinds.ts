/**
 * Kinds of column for join tests. A kind knows a column's Arrow type in both libraries, its type in DuckDB, how to lay out
 * its values in Arrow buffers, and a canonical text for a value from anywhere.
 */
import {
  blobValue,
  DuckDBDateValue,
  DuckDBDecimalValue,
  DuckDBTimestampMillisecondsValue,
  DuckDBTimestampNanosecondsValue,
  DuckDBTimestampSecondsValue,
  DuckDBTimestampTZValue,
  DuckDBTimestampValue,
  DuckDBTimeValue,
  type DuckDBValue,
} from "@duckdb/node-api";
import * as flechette from "@uwdata/flechette";
import * as apache from "apache-arrow";
import {
  type Buffers,
  bytesOf,
  encodeBigs,
  encodeNumbers,
  encodeViews,
  type Logical,
  packBytes,
  toHalf,
} from "./buffers.js";

export interface Kind {
  readonly name: string;
  readonly type: flechette.DataType;
  /** Null where apache-arrow has no such type. */
  readonly apacheType: apache.DataType | null;
  readonly duckType: string;
  /** Values to draw from: the edges of the type, and what other kinds have too. */
  readonly domain: readonly Logical[];
  encode(values: readonly (Logical | null)[]): Buffers;
  toDuck(value: Logical): DuckDBValue;
  /** Text of a value: the same for equal values of any kind that compares with this one. */
  text(value: Logical): string;
}

const scaledText = (value: bigint, scale: number): string => {
  const sign = value < 0n ? "-" : "";
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, "0");
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
};

function integer(bits: 8 | 16 | 32 | 64, signed: boolean, duckType: string): Kind {
  const name = `${signed ? "" : "u"}int${bits}`;
  const [low, high] = signed
    ? [-(2n ** BigInt(bits - 1)), 2n ** BigInt(bits - 1) - 1n]
    : [0n, 2n ** BigInt(bits) - 1n];
  const type = flechette.int(bits, signed);
  const edges = [
    low,
    low + 1n,
    -1n,
    0n,
    1n,
    2n,
    3n,
    77n,
    127n,
    128n,
    255n,
    256n,
    65535n,
    2n ** 31n,
    2n ** 32n - 1n,
    2n ** 32n,
    high - 1n,
    high,
  ];
  const wide = bits === 64;
  return {
    name,
    type,
    apacheType: new apache.Int(signed as never, bits as never) as apache.DataType,
    duckType,
    domain: [...new Set(edges)].filter((value) => value >= low && value <= high),
    encode: wide
      ? encodeBigs(type.values as BigInt64ArrayConstructor)
      : encodeNumbers(type.values as Int32ArrayConstructor),
    toDuck: (value) => (wide ? (value as bigint) : Number(value)),
    text: (value) => String(value),
  };
}

function float(precision: 0 | 1 | 2): Kind {
  const name = `float${16 << precision}`;
  const exact =
    precision === 2
      ? [0.1, 2 ** 53, 5e-324, 1.7e308]
      : precision === 1
        ? [Math.fround(0.1), 2 ** 24 + 2]
        : [];
  const Values = precision === 2 ? Float64Array : Float32Array;
  return {
    name,
    type: flechette.float(precision),
    apacheType: new apache.Float(precision as never) as apache.DataType,
    duckType: precision === 2 ? "DOUBLE" : "FLOAT",
    domain: [0, -0, 1, -1, 2, 3, 77, 127, 128, 255, 0.5, -1.5, Number.NaN, Infinity, -Infinity, ...exact],
    encode: (values) => {
      const numbers = values.map((v) => Number(v ?? 77));
      return { values: precision === 0 ? Uint16Array.from(numbers, toHalf) : Values.from(numbers) };
    },
    toDuck: (value) => Number(value),
    text: (value) => (Object.is(value, -0) ? "-0" : String(value)),
  };
}

const perSecond = [1n, 1_000n, 1_000_000n, 1_000_000_000n];
export const nanos = (value: bigint, unit: number): string =>
  String(value * (1_000_000_000n / perSecond[unit]));

function timestamp(unit: 0 | 1 | 2 | 3, zone: string | null): Kind {
  const per = perSecond[unit];
  const wrap = [
    (v: bigint) => new DuckDBTimestampSecondsValue(v),
    (v: bigint) => new DuckDBTimestampMillisecondsValue(v),
    (v: bigint) => (zone ? new DuckDBTimestampTZValue(v) : new DuckDBTimestampValue(v)),
    (v: bigint) => new DuckDBTimestampNanosecondsValue(v),
  ][zone ? 2 : unit];
  const seconds = [0n, 1n, -1n, 1_700_000_000n, -62_000_000n, 4_000_000_000n];
  return {
    name: `timestamp[${["s", "ms", "us", "ns"][unit]}${zone ? `, ${zone}` : ""}]`,
    type: flechette.timestamp(unit, zone),
    apacheType: new apache.Timestamp(unit as never, zone) as apache.DataType,
    duckType: zone ? "TIMESTAMPTZ" : ["TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP", "TIMESTAMP_NS"][unit],
    domain: [...seconds.map((s) => s * per), ...(unit > 0 ? [1n, -1n, 1_700_000_000n * per + 1n] : [])],
    encode: encodeBigs(BigInt64Array),
    // DuckDB has microseconds only for timestamps with a time zone
    toDuck: (value) => wrap(zone ? ((value as bigint) * 1_000_000n) / per : (value as bigint)),
    text: (value) => nanos(value as bigint, unit),
  };
}

function time(unit: 0 | 1 | 2 | 3): Kind {
  const per = perSecond[unit];
  const type = flechette.time(unit);
  return {
    name: `time${type.bitWidth}[${["s", "ms", "us", "ns"][unit]}]`,
    type,
    apacheType: new apache.Time(unit as never, type.bitWidth as never) as apache.DataType,
    duckType: "TIME",
    domain: [0n, 1n * per, 3_661n * per, 86_399n * per, 43_200n * per],
    encode: type.bitWidth === 32 ? encodeNumbers(Int32Array) : encodeBigs(BigInt64Array),
    toDuck: (value) => new DuckDBTimeValue(((value as bigint) * 1_000_000n) / per),
    text: (value) => nanos(value as bigint, unit),
  };
}

function date(unit: 0 | 1): Kind {
  const perDay = unit === 0 ? 1n : 86_400_000n;
  return {
    name: unit === 0 ? "date32" : "date64",
    type: flechette.date(unit),
    apacheType: new apache.Date_(unit as never) as apache.DataType,
    duckType: "DATE",
    domain: [0n, 1n, -1n, 19_000n, -30_000n, 60_000n].map((day) => day * perDay),
    encode: unit === 0 ? encodeNumbers(Int32Array) : encodeBigs(BigInt64Array),
    toDuck: (value) => new DuckDBDateValue(Number((value as bigint) / perDay)),
    text: (value) => String((value as bigint) / perDay),
  };
}

/** A decimal without zeros at its end, as integers are. */
export const decimalText = (value: bigint, scale: number): string =>
  scaledText(value, scale)
    .replace(/(\.\d*?)0+$/, "$1")
    .replace(/\.$/, "");

function decimal(precision: number, scale: number, bitWidth: 32 | 64 | 128 | 256): Kind {
  const per = 10n ** BigInt(scale);
  const most = 10n ** BigInt(precision) - 1n;
  const values = [0n, 1n, -1n, per, -per, 2n * per, 77n * per, 12n * per + per / 2n, most, -most, most - 1n];
  return {
    name: `decimal${bitWidth}(${precision}, ${scale})`,
    type: flechette.decimal(precision, scale, bitWidth),
    apacheType: bitWidth >= 128 ? (new apache.Decimal(scale, precision, bitWidth) as apache.DataType) : null,
    duckType: `DECIMAL(${precision}, ${scale})`,
    domain: [...new Set(values)],
    encode: (column) => {
      const words = bitWidth / 32;
      const encoded = new Uint32Array(column.length * words);
      column.forEach((value, i) => {
        for (let k = 0; k < words; k++)
          encoded[i * words + k] = Number((((value ?? 77n) as bigint) >> BigInt(32 * k)) & 0xffffffffn);
      });
      return {
        values: bitWidth === 32 ? new Int32Array(encoded.buffer) : new BigUint64Array(encoded.buffer),
      };
    },
    toDuck: (value) => new DuckDBDecimalValue(value as bigint, precision, scale),
    text: (value) => decimalText(value as bigint, scale),
  };
}

const words = [
  "",
  "a",
  "b",
  "SFO",
  "JFK",
  "SF",
  "abcd",
  "abcdefg",
  "abcdefgh",
  "é",
  "日本語",
  "🦆",
  "naïve café",
  "x".repeat(31),
  "x".repeat(32),
  `${"long ".repeat(20)}end`,
];
const utf8 = new TextEncoder();

function strings(
  name: string,
  type: flechette.DataType,
  apacheType: apache.DataType,
  offsets: "i32" | "i64",
): Kind {
  const text = typeof type === "object" && /utf8/.test(name);
  return {
    name,
    type,
    apacheType,
    duckType: text ? "VARCHAR" : "BLOB",
    domain: text ? words : words.map((word) => utf8.encode(word)),
    encode: (values) => packBytes(values.map(bytesOf), offsets),
    toDuck: (value) => (text ? (value as string) : blobValue(value as Uint8Array)),
    text: (value) => (text ? JSON.stringify(value) : Buffer.from(value as Uint8Array).toString("hex")),
  };
}

const bool: Kind = {
  name: "bool",
  type: flechette.bool(),
  apacheType: new apache.Bool(),
  duckType: "BOOLEAN",
  domain: [true, false],
  encode: (values) => {
    const bits = new Uint8Array(Math.ceil(values.length / 8));
    values.forEach((value, i) => {
      if (value ?? true) bits[i >> 3] |= 1 << (i & 7);
    });
    return { values: bits };
  },
  toDuck: (value) => value as boolean,
  text: (value) => String(value),
};

const fixedBinary: Kind = {
  name: "fixed-size binary(3)",
  type: flechette.fixedSizeBinary(3),
  apacheType: new apache.FixedSizeBinary(3),
  duckType: "BLOB",
  domain: ["SFO", "JFK", "abc"].map((word) => utf8.encode(word)),
  encode: (values) => {
    const { values: bytes } = packBytes(
      values.map((value) => (value === null ? utf8.encode("nul") : bytesOf(value))),
      "i32",
    );
    return { values: bytes };
  },
  toDuck: (value) => blobValue(value as Uint8Array),
  text: (value) => Buffer.from(value as Uint8Array).toString("hex"),
};

const list: Kind[] = [
  bool,
  integer(8, true, "TINYINT"),
  integer(16, true, "SMALLINT"),
  integer(32, true, "INTEGER"),
  integer(64, true, "BIGINT"),
  integer(8, false, "UTINYINT"),
  integer(16, false, "USMALLINT"),
  integer(32, false, "UINTEGER"),
  integer(64, false, "UBIGINT"),
  float(0),
  float(1),
  float(2),
  decimal(9, 2, 32),
  decimal(18, 4, 64),
  decimal(38, 2, 128),
  decimal(38, 9, 128),
  decimal(38, 0, 128),
  decimal(38, 5, 256),
  date(0),
  date(1),
  time(0),
  time(1),
  time(2),
  time(3),
  timestamp(0, null),
  timestamp(1, null),
  timestamp(2, null),
  timestamp(3, null),
  timestamp(0, "UTC"),
  timestamp(2, "Europe/Paris"),
  strings("utf8", flechette.utf8(), new apache.Utf8(), "i32"),
  strings("large utf8", flechette.largeUtf8(), new apache.LargeUtf8(), "i64"),
  strings("binary", flechette.binary(), new apache.Binary(), "i32"),
  strings("large binary", flechette.largeBinary(), new apache.LargeBinary(), "i64"),
  { ...strings("utf8 view", flechette.utf8View(), new apache.Utf8View(), "i32"), encode: encodeViews },
  { ...strings("binary view", flechette.binaryView(), new apache.BinaryView(), "i32"), encode: encodeViews },
  fixedBinary,
];

/** All kinds by name. */
export const kinds: Readonly<Record<string, Kind>> = Object.fromEntries(
  list.map((kind) => [kind.name, kind]),
);

/** Whether tables on a device hold a kind. */
export function isHeldKind({ type, apacheType }: Kind): boolean {
  const { Type } = flechette;
  const isView = type.typeId === Type.Utf8View || type.typeId === Type.BinaryView;
  return apacheType !== null && !isView && !(type.typeId === Type.FixedSizeBinary && type.stride % 4 !== 0);
}
