/** The WGSL of a module: which fragments of the engine, and which of this folder, make it up. */
import type { TableSpec } from "../engine/layout.js";
import { type BasicType, type Scalar, scalarWords } from "../engine/scalars.js";
import { type SlotFormat, slotFormat } from "../engine/slot-format.js";
import { GROWN, MOST_PIECES, NO_LIST } from "../engine/value-lists.js";
import { bindingLine, constantLines } from "../engine/webgpu/device/module-code.js";
import cas from "../engine/webgpu/direct/cas.wgsl";
import { rowProbing } from "../engine/webgpu/direct/row-claims.js";
import { MAX_PROBE_WORD, SEED_WORD } from "../engine/webgpu/table/control.js";
import { hashCode } from "../engine/webgpu/table/hash-code.js";
import { kernelWords } from "../engine/webgpu/table/kernel-changes.js";
import { prefixNames } from "../engine/webgpu/table/prefix-names.js";
import { changingCode, compose, each, probingCode, readingCode } from "../engine/webgpu/table/slot-code.js";
import address from "../engine/webgpu/wgsl/lists/address.wgsl";
import change from "./change.wgsl";
import changeAssign from "./change-assign.wgsl";
import changeMap from "./change-map.wgsl";
import changeSet from "./change-set.wgsl";
import changeSum from "./change-sum.wgsl";
import changeSumFloat from "./change-sum-float.wgsl";
import changeSumPair from "./change-sum-pair.wgsl";
import claimWord from "./claim-word.wgsl";
import claimWords from "./claim-words.wgsl";
import find from "./find.wgsl";
import lookUp from "./look-up.wgsl";
import multi from "./multi.wgsl";
import multimap from "./multimap.wgsl";
import multiset from "./multiset.wgsl";
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

/** Where the text goes, and what it is for. */
export interface TextOptions {
  readonly prefix: string;
  readonly access: "read" | "read_write";
  readonly group: number;
  /** The first binding. */
  readonly binding: number;
}

/** The values of lists whose numbers a table has; null where there are only counts of keys. */
export interface ListsOf {
  readonly value: BasicType | null;
}

/** The text; slot count and longest probe are not in it, since they change. */
export function moduleText(spec: TableSpec, lists: ListsOf | null, options: TextOptions): string {
  const { prefix, access, group, binding } = options;
  const format = slotFormat(spec);
  const changes = access === "read_write";
  const [key] = format.keyScalars;
  const value = (lists ? lists.value : format.valueScalars[0]) ?? key;
  const bind = (i: number, name: string, type: string) => bindingLine(group, binding + i, access, name, type);
  const parts = [
    `alias KeyType = ${wgslTypes[key]};\nalias ValueType = ${wgslTypes[value]};`,
    keyCode(format),
    constantLines({ MAX_PROBE_WORD, SEED_WORD }),
    bind(0, "table", changes ? "array<atomic<Word>>" : "array<Slot>"),
    bind(1, "control", changes ? "array<atomic<u32>>" : "array<u32>"),
    format.claim === "row" ? rowProbing(spec, hashCode(spec)) : probingCode(spec, hashCode(spec)),
    ...(changes ? changingText(format) : [readingCode(format), read]),
    lookUp,
    ...(lists ? listsText(lists, bind) : [find]),
  ];
  return prefixNames(parts.join("\n"), prefix);
}

/** A key as tables store and compare it. */
function keyCode({ keyWords, keyFloats }: SlotFormat): string {
  const wide = keyFloats.length > 0 ? "canonicalF64(key.x, key.y)" : "key";
  const bits = keyWords === 1 ? "canonicalKey(bitcast<u32>(key))" : wide;
  return `fn bitsOf(key: KeyType) -> Key { return ${bits}; }`;
}

/** The functions that change a table. */
function changingText(format: SlotFormat): string[] {
  const { keyWords, valueWords, valueScalars } = format;
  const [value] = valueScalars;
  const valueBits = compose(valueWords, (i) => `atomicLoad(&table[valueWord(at) + ${i}u])`);
  const stores = each(valueWords, (i) => {
    const bits = valueWords === 1 ? "bitcast<u32>(value)" : `value[${i}]`;
    return `atomicStore(&table[valueWord(slot) + ${i}u], ${bits});`;
  });
  const found = value ? valueBits : "bits";
  return [
    constantLines(kernelWords),
    "alias Word = u32;",
    // no row claims a slot
    changingCode(format, "false"),
    `fn foundAt(at: u32, look: Look, bits: Key) -> Found { return ${found}; }`,
    cas,
    keyWords === 1 ? claimWord : claimWords,
    change,
    ...(value
      ? [
          `fn storeValue(slot: u32, value: ValueType) { ${stores.join(" ")} }`,
          changeMap,
          valueWords === 1 ? changeAssign : refused("insertOrAssign", "TwoWordsAreNotStoredAtOnce"),
          adding[value],
        ]
      : [changeSet]),
  ];
}

/** insertOrAdd, by the type of the values. */
const adding: { readonly [T in Scalar]: string } = {
  u32: changeSum,
  i32: changeSum,
  f32: changeSumFloat,
  u64: changeSumPair,
  i64: changeSumPair,
  f64: refused("insertOrAdd", "WgslHasNo64BitFloats"),
};

/**
 * In place of a function that cannot be: what calls it does not compile, and the type that the compiler asks for says
 * why.
 */
function refused(name: string, why: string): string {
  return `struct ${why} { none: u32 }\nfn ${name}(key: KeyType, value: ${why}) -> u32 { return FULL; }`;
}

/** What lies under lists of values: engine/webgpu/lists. */
function listsText({ value }: ListsOf, bind: (i: number, name: string, type: string) => string): string[] {
  const heads = bind(2, "heads", "array<u32>");
  if (value === null) return [constantLines({ NO_LIST, HEAD: 1 }), heads, multi, multiset];
  const words = scalarWords[value];
  const stored = compose(words, (i) => `room[address * ${words}u + ${i}u]`);
  return [
    constantLines({ NO_LIST, HEAD: 2, GROWN, MOST_PIECES }),
    heads,
    bind(3, "room", "array<u32>"),
    bind(4, "records", "array<vec4u>"),
    `fn storedValue(address: u32) -> ValueType { return bitcast<ValueType>(${stored}); }`,
    address,
    multi,
    multimap,
  ];
}
