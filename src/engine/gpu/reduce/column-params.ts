/** How kernels read a column of numbers: see values.wgsl. */
import type { DeviceColumn, DeviceValues, Words } from "../../device-columns.js";
import type { NumberColumn } from "../../reductions.js";
import type { RowParams } from "../groups/row-kernels.js";

const FORMS = { unsigned: 0, signed: 1, float: 2 } as const;
/** The upper words of infinities, by bits of a float; of halves moved to the upper end. */
const INFINITIES: { readonly [bits: number]: number } = { 16: 0x7c000000, 32: 0x7f800000, 64: 0x7ff00000 };

/** Its values. */
export function dataOf({ values }: DeviceColumn): Words {
  return (values as Exclude<DeviceValues, { kind: "strings" }>).data;
}

/** What a dispatch is told of it. */
export function paramsOf(column: DeviceColumn, form: NumberColumn["form"]) {
  const values = column.values as Exclude<DeviceValues, { kind: "strings" }>;
  const bits = values.kind === "bits" ? 1 : values.width * 8;
  return {
    bits,
    words: Math.ceil(bits / 32),
    form: FORMS[form],
    infinity: form === "float" ? INFINITIES[bits] : 0,
    nullable: Number(column.validity !== null),
  } satisfies RowParams;
}
