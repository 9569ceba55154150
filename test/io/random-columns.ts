/** Columns of the types that Parquet has, of random values: by a seed, so that a test can make them again. */
import {
  bool,
  type Column,
  columnFromArray,
  type DataType,
  decimal,
  dictionary,
  float64,
  int8,
  int32,
  TimeUnit,
  timestamp,
  uint16,
  uint64,
  utf8,
} from "@uwdata/flechette";
import fc from "fast-check";

export const KINDS = [
  "int8",
  "uint16",
  "int32",
  "uint64",
  "float64",
  "bool",
  "text",
  "coded",
  "decimal",
  "seconds",
];

export const anyColumn = fc.record({
  kind: fc.constantFrom(...KINDS),
  different: fc.constantFrom(1, 2, 17, 300, 100_000),
  nulls: fc.constantFrom(0, 0.3, 1),
  seed: fc.integer(),
});

export interface RandomColumn {
  readonly kind: string;
  readonly different: number;
  readonly nulls: number;
  readonly seed: number;
}

export function randomColumn({ kind, different, nulls, seed }: RandomColumn, rows: number): Column<unknown> {
  let state = seed;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0;
    return (state >>> 0) / 2 ** 32;
  };
  const value: Record<string, [type: DataType, of: (n: number) => unknown]> = {
    int8: [int8(), (n) => (n % 256) - 128],
    uint16: [uint16(), (n) => n % 65_536],
    int32: [int32(), (n) => Math.imul(n, 0x9e3779b1)],
    uint64: [uint64(), (n) => BigInt.asUintN(64, BigInt(n) * 0x9e3779b97f4a7c15n)],
    float64: [float64(), (n) => (n % 5 === 1 ? -n / 8 : n / 8)],
    bool: [bool(), (n) => n % 2 === 0],
    text: [utf8(), (n) => "ä".repeat(n % 60) + n],
    coded: [dictionary(utf8(), int32()), (n) => `text ${n}`],
    decimal: [decimal(30, 2, 128), (n) => (BigInt(n) - 50n) * 10n ** 20n],
    seconds: [timestamp(TimeUnit.SECOND), (n) => n * 1000],
  };
  const [type, of] = value[kind];
  const values = Array.from({ length: rows }, () =>
    random() < nulls ? null : of(Math.floor(random() * different)),
  );
  return columnFromArray(values as string[], type) as Column<unknown>;
}
