/** Arrow columns over values that the generator drew: fixed-width values are not copied, and names become a dictionary. */
import {
  batchType,
  Column,
  columnFromArray,
  type DataType,
  dateDay,
  decimal,
  dictionary,
  int16,
  int32,
  type TypedArray,
  utf8,
} from "@uwdata/flechette";

/** Decimals read as bigints, unscaled: 12.50 is 1250n, so arithmetic on them is exact. */
export const exactDecimals = { useDecimalInt: true };

/** A decimal(15, 2), the type of money, quantities and rates in TPC-H, in 64 bits. */
export const hundredths = decimal(15, 2, 64);

export function integers(values: Int32Array): Column<number> {
  return new Column([batchOf<number>(int32(), values)], int32());
}

/** Dates from days since 1970-01-01. */
export function dates(days: Int32Array): Column<number> {
  return new Column([batchOf<number>(dateDay(), days)], dateDay());
}

/** Decimals from their hundredths: 12.50 from 1250. */
export function decimals(values: Int32Array): Column<bigint> {
  return new Column([batchOf<bigint>(hundredths, BigUint64Array.from(values, BigInt))], hundredths);
}

/** `names[codes[row]]` in each row. */
export function namesOf(names: readonly string[], codes: Int16Array): Column<string> {
  const type = dictionary(utf8(), int16());
  const batch = batchOf<string>(type, codes) as ReturnType<typeof batchOf<string>> & {
    setDictionary(column: Column<string>): void;
  };
  batch.setDictionary(columnFromArray([...names], utf8()) as Column<string>);
  return new Column([batch], type);
}

export function texts(values: string[]): Column<string> {
  return columnFromArray(values, utf8()) as Column<string>;
}

function batchOf<T>(type: DataType, values: TypedArray) {
  const Batch = batchType(type, exactDecimals);
  const { length } = values;
  return new Batch({
    length,
    nullCount: 0,
    type,
    validity: new Uint8Array(0),
    values,
  }) as Column<T>["data"][0];
}
