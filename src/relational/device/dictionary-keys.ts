/**
 * Dictionary columns of strings as keys on a device: their codes, which stay where they are. Codes of a column whose
 * dictionary has a value twice, and those of a join's other side, become those of equal values by a look-up on the
 * device.
 *
 * Values are compared on the host, once a dictionary; long dictionaries, and those with nulls, are left to others.
 */

import type { ChunkedColumn } from "../../arrow/chunk.js";
import { contiguous } from "../../arrow/contiguous.js";
import type { Words } from "../../engine/device-columns.js";
import type { Engine } from "../../engine/engine.js";
import { encodeBytes } from "../keys/encode-bytes.js";
import type { TableColumn } from "./column-transport.js";
import type { DeviceKeyColumn } from "./device-keys.js";

/**
 * Values of a dictionary at most, and rows for each of them unless they are few: comparing more takes longer than
 * encoding the rows.
 */
const MOST_VALUES = 2 ** 17;
const FEW_VALUES = 1024;
const ROWS_PER_VALUE = 8;
/** Bytes of a code. */
const CODE_BYTES = 4;

/** The values of a dictionary. */
interface Values {
  /** Per code: the first code of an equal value. */
  readonly firsts: Uint32Array;
  /** The first code of every value, by its bytes, a character each. */
  readonly codes: ReadonlyMap<string, number>;
}

const known = new WeakMap<ChunkedColumn, Values | null>();

/** What uploads and look-ups are made with. */
export interface CodeHost {
  readonly engine: Engine;
  /** Takes an array, which is freed with the keys. */
  hold(array: Words): Words;
}

/** A column's codes as keys among themselves; undefined where they may not be compared. */
export async function codeKey(host: CodeHost, column: TableColumn): Promise<DeviceKeyColumn | undefined> {
  const values = valuesOf(column);
  return values ? keyOfCodes(host, column, values.firsts) : undefined;
}

/** Two columns' codes as keys of a join; undefined where they may not be compared. */
export async function codeKeys(
  host: CodeHost,
  left: TableColumn,
  right: TableColumn,
): Promise<[DeviceKeyColumn, DeviceKeyColumn] | undefined> {
  const [a, b] = [valuesOf(left), valuesOf(right)];
  if (!a || !b) return undefined;
  const rightCodes = new Uint32Array(b.firsts.length);
  for (const [value, code] of b.codes) rightCodes[code] = a.codes.get(value) ?? a.firsts.length + code;
  for (let code = 0; code < rightCodes.length; code++) rightCodes[code] = rightCodes[b.firsts[code]];
  return [await keyOfCodes(host, left, a.firsts), await keyOfCodes(host, right, rightCodes)];
}

/** Null where codes are not to be compared. */
function valuesOf({ values, dictionary }: TableColumn): Values | null {
  if (values?.kind !== "fixed" || values.width !== CODE_BYTES || dictionary === null) return null;
  const before = known.get(dictionary);
  if (before !== undefined) return before;
  const most = Math.min(MOST_VALUES, Math.max(FEW_VALUES, values.data.length / ROWS_PER_VALUE));
  if (dictionary.length === 0 || dictionary.length > most) return null;
  const found = readValues(dictionary);
  known.set(dictionary, found);
  return found;
}

function readValues(dictionary: ChunkedColumn): Values | null {
  const chunk = contiguous(dictionary);
  if (chunk.validity !== null || (chunk.layout !== "bytes" && chunk.layout !== "views")) return null;
  const { starts, ends, bytes } = encodeBytes(chunk);
  // every byte has a character of its own
  const decoder = new TextDecoder("latin1");
  const firsts = new Uint32Array(chunk.length);
  const codes = new Map<string, number>();
  for (let code = 0; code < chunk.length; code++) {
    const value = decoder.decode(bytes.subarray(starts[code], ends[code]));
    const first = codes.get(value) ?? code;
    if (first === code) codes.set(value, code);
    firsts[code] = first;
  }
  return { firsts, codes };
}

/** Codes as keys. @param keys of the codes */
async function keyOfCodes(
  host: CodeHost,
  { values, validity }: TableColumn,
  keys: Uint32Array,
): Promise<DeviceKeyColumn> {
  const { data } = values as Extract<TableColumn["values"], { data: Words }>;
  const below = keys.reduce((most, key) => Math.max(most, key), 0) + 1;
  const isSame = keys.every((key, code) => key === code);
  return {
    kind: "device words",
    width: 1,
    data: isSame ? data : await lookUp(host, data, keys),
    validity,
    below,
  };
}

/** The element of `of` that each code numbers; where a code numbers none, any: it is a null's. */
async function lookUp({ engine, hold }: CodeHost, codes: Words, of: Uint32Array): Promise<Words> {
  const data = hold(await engine.upload("u32", of));
  const rows = await engine.rows();
  const column = { values: { kind: "fixed", width: CODE_BYTES, data }, validity: null } as const;
  const [{ values }] = await rows.gatherColumns([column], codes, false, {});
  return hold((values as Extract<TableColumn["values"], { data: Words }>).data);
}
