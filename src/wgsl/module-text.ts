/** The WGSL of a module: which fragments of the engine, and which of this folder, make it up. */
import type { TableSpec } from "../engine/layout.js";
import type { Scalar } from "../engine/scalars.js";
import { type SlotFormat, slotFormat } from "../engine/slot-format.js";
import { bindingLine, constantLines } from "../engine/webgpu/device/kernel-source.js";
import cas from "../engine/webgpu/direct/cas.wgsl";
import { rowProbing } from "../engine/webgpu/direct/row-claims.js";
import { MAX_PROBE_WORD, SEED_WORD } from "../engine/webgpu/table/control.js";
import { hashCode } from "../engine/webgpu/table/hash-code.js";
import { kernelWords } from "../engine/webgpu/table/kernel-changes.js";
import { prefixNames } from "../engine/webgpu/table/prefix-names.js";
import { changingCode, probingCode, readingCode } from "../engine/webgpu/table/slot-code.js";
import change from "./change.wgsl";
import changeMap from "./change-map.wgsl";
import changeSet from "./change-set.wgsl";
import changeSum from "./change-sum.wgsl";
import find from "./find.wgsl";
import read from "./read.wgsl";

/** WGSL has no types of 64 bits: an element is its two words, the low one first. */
const wgslTypes: { readonly [T in Scalar]: string } = {
  u32: "u32",
  i32: "i32",
  f32: "f32",
  u64: "vec2u",
  i64: "vec2u",
  f64: "vec2u",
};

/** The text; slot count and longest probe are not in it, since they change. */
export function moduleText(
  spec: TableSpec,
  at: { prefix: string; access: "read" | "read_write"; group: number; binding: number },
): string {
  const { prefix, access, group, binding } = at;
  const format = slotFormat(spec);
  const hashing = hashCode(spec);
  const changes = access === "read_write";
  const [scalar] = format.keyScalars;
  const wide = scalar === "f64" ? "canonicalF64(key.x, key.y)" : "key";
  const bits = format.keyWords === 1 ? "canonicalKey(bitcast<u32>(key))" : wide;
  const parts = [
    `alias KeyType = ${wgslTypes[scalar]};\nalias ValueType = ${wgslTypes[format.valueScalars[0] ?? scalar]};`,
    `fn bitsOf(key: KeyType) -> Key { return ${bits}; }`,
    constantLines({ MAX_PROBE_WORD, SEED_WORD }),
    bindingLine(group, binding, access, "table", changes ? "array<atomic<Word>>" : "array<Slot>"),
    bindingLine(group, binding + 1, access, "control", changes ? "array<atomic<u32>>" : "array<u32>"),
    format.claim === "row" ? rowProbing(spec, hashing).code : probingCode(spec, hashing),
    ...(changes ? changingText(spec, format) : [readingCode(format), read]),
    find,
  ];
  return prefixNames(parts.join("\n"), prefix);
}

function changingText({ value }: TableSpec, format: SlotFormat): string[] {
  const inserts = value === null ? [changeSet] : [changeMap, ...(value === "f32" ? [] : [changeSum])];
  return [constantLines(kernelWords), "alias Word = u32;", changingCode(format), cas, change, ...inserts];
}
