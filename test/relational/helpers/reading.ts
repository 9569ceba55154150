/** Values as flechette and DuckDB read them, brought to the logical values and texts of kinds.ts. */
import {
  DuckDBBlobValue,
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
import type { Logical } from "./buffers.js";
import { decimalText, type Kind, nanos } from "./kinds.js";

/** A value as flechette reads it, with `exactReading`, as a logical value. */
export function fromFlechette(type: flechette.DataType, value: unknown): Logical {
  if (type.typeId === flechette.Type.Date)
    return BigInt(value as number) / (type.unit === 0 ? 86_400_000n : 1n);
  const stored: number[] = [
    flechette.Type.Int,
    flechette.Type.Decimal,
    flechette.Type.Time,
    flechette.Type.Timestamp,
  ];
  return stored.includes(type.typeId) ? BigInt(value as number | bigint) : (value as Logical);
}

/** Options under which flechette reads every value exactly. */
export const exactReading = { useBigInt: true, useBigIntTimestamp: true, useDecimalInt: true };

/** Canonical text of a value from DuckDB, as `kind.text` gives it. */
export function duckText(kind: Kind, value: DuckDBValue): string {
  if (value instanceof DuckDBTimestampSecondsValue) return nanos(value.seconds, 0);
  if (value instanceof DuckDBTimestampMillisecondsValue) return nanos(value.millis, 1);
  if (value instanceof DuckDBTimestampNanosecondsValue) return nanos(value.nanos, 3);
  if (value instanceof DuckDBTimestampValue || value instanceof DuckDBTimestampTZValue)
    return nanos(value.micros, 2);
  if (value instanceof DuckDBTimeValue) return nanos(value.micros, 2);
  if (value instanceof DuckDBDateValue) return String(value.days);
  if (value instanceof DuckDBDecimalValue) return decimalText(value.value, value.scale);
  if (value instanceof DuckDBBlobValue) return Buffer.from(value.bytes).toString("hex");
  const isWhole = typeof value === "number" && Number.isSafeInteger(value);
  return kind.text(isWhole && kind.type.typeId === flechette.Type.Int ? BigInt(value) : (value as Logical));
}
