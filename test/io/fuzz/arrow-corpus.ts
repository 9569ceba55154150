/** Small Arrow streams and files of all that readers meet: types, nested types, dictionaries, compression, several writers. */
import {
  binary,
  bool,
  CompressionType,
  columnFromArray,
  type DataType,
  dateDay,
  decimal,
  dictionary,
  duration,
  type Column as FlechetteColumn,
  field,
  fixedSizeBinary,
  fixedSizeList,
  float32,
  float64,
  int8,
  int16,
  int32,
  int64,
  interval,
  largeList,
  largeUtf8,
  list,
  map,
  nullType,
  setCompressionCodec,
  struct,
  Table,
  tableFromColumns,
  tableToIPC,
  timeMicrosecond,
  timestamp,
  uint64,
  union,
  utf8,
} from "@uwdata/flechette";
import * as apache from "apache-arrow";
import lz4 from "lz4js";
import { decodeLz4Frame } from "../../../src/io/lz4.js";
import { decompressZstd } from "../../../src/io/zstd.js";

export interface Seed {
  readonly name: string;
  readonly bytes: Uint8Array;
}

const ROWS = 12;

/** Columns of these types, some rows null. */
const FLAT: Readonly<Record<string, readonly [type: DataType, of: (i: number) => unknown]>> = {
  i8: [int8(), (i) => i - 6],
  i16: [int16(), (i) => i * 99],
  i64: [int64(), (i) => BigInt(i) << 40n],
  u64: [uint64(), (i) => BigInt(i)],
  f32: [float32(), (i) => i / 3],
  f64: [float64(), (i) => i / 7],
  flag: [bool(), (i) => i % 3 === 0],
  day: [dateDay(), (i) => i * 86_400_000],
  time: [timeMicrosecond(), (i) => BigInt(i * 1000)],
  at: [timestamp(2, "UTC"), (i) => i * 1000],
  took: [duration(1), (i) => BigInt(i)],
  gap: [interval(2), (i) => Float64Array.of(i, 1, 2)],
  cost: [decimal(9, 2, 128), (i) => i / 4],
  text: [utf8(), (i) => `text ${i} é`],
  long: [largeUtf8(), (i) => "ab".repeat(i)],
  raw: [binary(), (i) => Uint8Array.of(i, 255)],
  id: [fixedSizeBinary(3), (i) => Uint8Array.of(i, 0, 1)],
};

const NESTED: typeof FLAT = {
  list: [list(int32()), (i) => [i, i + 1].slice(i % 3)],
  lists: [list(list(utf8())), (i) => [[`${i}`], []]],
  large: [largeList(int16()), (i) => [i]],
  pair: [fixedSizeList(int8(), 2), (i) => [i, -i]],
  row: [struct({ a: int32(), b: utf8() }), (i) => ({ a: i, b: `b${i}` })],
  map: [map(utf8(), int32()), (i) => [[`k${i}`, i]]],
  either: [
    union(1, [field("n", int32()), field("s", utf8())], [0, 1], (value) =>
      typeof value === "number" ? 0 : 1,
    ),
    (i) => (i % 2 ? i : `s${i}`),
  ],
};

const CODED: typeof FLAT = {
  key: [dictionary(utf8(), int8()), (i) => `key ${i % 4}`],
  wide: [dictionary(int64(), int32()), (i) => BigInt(i % 5)],
  keys: [list(dictionary(utf8())), (i) => [`x${i % 2}`, `x${i % 3}`]],
};

function tableOf(types: typeof FLAT, rows = ROWS, start = 0): Table {
  const columns = Object.entries(types).map(([name, [type, of]]): [string, FlechetteColumn<unknown>] => [
    name,
    columnFromArray(
      Array.from({ length: rows }, (_, i) => (i % 5 === 4 ? null : of(start + i))),
      type,
    ) as FlechetteColumn<unknown>,
  ]);
  return tableFromColumns(columns);
}

/** The same table with metadata on the schema and on every column. */
function described(table: Table): Table {
  const metadata = new Map([
    ["pandas", '{"index": []}'],
    ["empty", ""],
  ]);
  const fields = table.schema.fields.map((each) => ({ ...each, metadata }));
  return new Table({ ...table.schema, fields, metadata }, [...table.children] as never);
}

/** As many times the same batches. */
function repeated(table: Table, times: number): Table {
  const children = table.children.map(
    (column) =>
      new (column.constructor as typeof FlechetteColumn)(
        Array.from({ length: times }, () => column.data).flat() as never,
        column.type,
      ),
  );
  return new Table(table.schema, children as never);
}

/** Streams of apache-arrow's: dictionaries that grow or are replaced, a batch without rows, no marks as before version 0.15. */
function apacheStreams(): Seed[] {
  const coded = (values: (string | null)[], id: number) =>
    new apache.Table({
      s: apache.vectorFromArray(values, new apache.Dictionary(new apache.Utf8(), new apache.Int32(), id)),
      n: apache.vectorFromArray(
        values.map((_, i) => i),
        new apache.Int32(),
      ),
    }).batches[0];
  const batches = (id: number) => [
    coded(["a", "b", null], id),
    coded(["c", "a"], id),
    coded([], id),
    coded(["d"], id),
  ];
  const written = (writer: apache.RecordBatchWriter) => {
    return writer.toUint8Array(true);
  };
  const legacy = new apache.RecordBatchStreamWriter({ writeLegacyIpcFormat: true });
  legacy.writeAll(batches(3) as never);
  legacy.finish();
  return [
    { name: "apache-stream", bytes: written(apache.RecordBatchStreamWriter.writeAll(batches(1))) },
    {
      name: "apache-file",
      bytes: written(apache.RecordBatchFileWriter.writeAll([coded(["a", "b", null], 2)])),
    },
    { name: "apache-growing", bytes: growing() },
    { name: "apache-legacy", bytes: written(legacy) },
    {
      name: "apache-nested",
      bytes: apache.tableToIPC(
        new apache.Table({
          l: apache.vectorFromArray(
            [[1, 2], null, [3]],
            new apache.List(new apache.Field("item", new apache.Int32(), true)),
          ),
          s: apache.vectorFromArray(
            [{ x: 1, y: "a" }, { x: 2, y: "b" }, null],
            new apache.Struct([
              new apache.Field("x", new apache.Int32(), true),
              new apache.Field("y", new apache.Utf8(), true),
            ] as apache.Field[]),
          ),
        }),
        "stream",
      ),
    },
  ];
}

/** A dictionary that goes on between two batches, and a list of values of it. */
function growing(): Uint8Array {
  const type = new apache.Dictionary(new apache.Utf8(), new apache.Int32(), 7);
  const start = apache.vectorFromArray(["a", "b"], new apache.Utf8());
  const whole = start.concat(apache.vectorFromArray(["c"], new apache.Utf8()));
  const batch = (dictionary: apache.Vector<apache.Utf8>, codes: number[]) => {
    const data = apache.makeData({ type, dictionary, data: Int32Array.from(codes), length: codes.length });
    return new apache.Table({ s: new apache.Vector([data]) }).batches[0];
  };
  const batches = [batch(start, [1, 0]), batch(whole, [0, 2, 1])];
  return apache.RecordBatchStreamWriter.writeAll(batches).toUint8Array(true);
}

/** Zstandard without entropy coding: runs of one byte as blocks of their own, other bytes as they are (RFC 8878, section 3.1.1). */
export function encodeZstd(bytes: Uint8Array): Uint8Array {
  const out = [0x28, 0xb5, 0x2f, 0xfd, 0xa0, ...new Uint8Array(Uint32Array.of(bytes.length).buffer)];
  const block = (kind: number, size: number, content: Uint8Array, last: boolean) => {
    const header = (size << 3) | (kind << 1) | (last ? 1 : 0);
    out.push(header & 255, (header >>> 8) & 255, header >>> 16, ...content);
  };
  let plain = 0;
  for (let at = 0; at < bytes.length; ) {
    let end = at;
    while (end < bytes.length && bytes[end] === bytes[at]) end++;
    if (end - at > 8) {
      if (at > plain) block(0, at - plain, bytes.subarray(plain, at), false);
      block(1, end - at, bytes.subarray(at, at + 1), false);
      plain = end;
    }
    at = end;
  }
  block(0, bytes.length - plain, bytes.subarray(plain), true);
  return Uint8Array.from(out);
}

/** All of them, made with codecs that this registers. */
export function arrowSeeds(zstd = encodeZstd): Seed[] {
  setCompressionCodec(CompressionType.LZ4_FRAME, {
    encode: (bytes) => lz4.compress(bytes),
    decode: decodeLz4Frame,
  });
  setCompressionCodec(CompressionType.ZSTD, { encode: zstd, decode: decompressZstd });
  const small = { i8: FLAT.i8, text: FLAT.text };
  const tables: Record<string, Table> = {
    flat: tableOf(FLAT),
    nested: tableOf(NESTED),
    coded: tableOf(CODED),
    small: described(repeated(tableOf(small, 3), 3)),
    nulls: tableFromColumns({ none: columnFromArray([null, null, null], nullType()) }),
    empty: tableOf(small, 0),
    codes: repeated(tableOf(CODED), 2),
    long: tableOf({ i64: FLAT.i64, key: CODED.key, f64: [float64(), () => 0], text: FLAT.text }, 200),
  };
  const seeds = Object.entries(tables).flatMap(([name, table]) =>
    (["file", "stream"] as const).flatMap((format) => [
      { name: `${name}-${format}`, bytes: tableToIPC(table, { format }) as Uint8Array },
      ...(name === "long" || name === "codes"
        ? (["LZ4_FRAME", "ZSTD"] as const).map((codec) => ({
            name: `${name}-${format}-${codec}`,
            bytes: tableToIPC(table, { format, codec: CompressionType[codec] }) as Uint8Array,
          }))
        : []),
    ]),
  );
  return [...seeds, ...apacheStreams()];
}
