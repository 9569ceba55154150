/**
 * The direct kernels of tables that are not plain: wider keys or values, seeds, other hash functions. Loaded with the
 * first such table.
 */
import type { TableSpec } from "../../layout.js";
import { slotFormat } from "../../slot-format.js";
import { hashCode } from "../table/hash-code.js";
import { slotCode } from "../table/slot-code.js";
import { kernelsByKey, TableKernels } from "./direct-kernels.js";
import { rowClaiming, rowKeyColumn, rowProbing, settleKernel } from "./row-claims.js";

export function makeKernels(spec: TableSpec): TableKernels {
  const format = slotFormat(spec);
  const hashing = hashCode(spec);
  if (format.claim === "key") return kernelsByKey(format, slotCode(spec, hashing));
  const code = { ...slotCode(spec, hashing), probing: rowProbing(spec, hashing) };
  const keyColumn = rowKeyColumn(format);
  const settle = settleKernel({ code, keyColumn });
  return new TableKernels(format, code, keyColumn, rowClaiming, settle);
}
