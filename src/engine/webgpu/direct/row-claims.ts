/**
 * What tables need whose slots are claimed by row: the state words of their entries, and the kernel that settles
 * claims. Loaded with the first such table.
 */
import { type Fragment, kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import type { TableSpec } from "../../layout.js";
import { type SlotFormat, slotFormat } from "../../slot-format.js";
import { MOST_TAG } from "../../tags.js";
import { wgsl } from "../device/module-code.js";
import floatKeys from "../table/float-keys.wgsl";
import { compose, each, probingCode, word } from "../table/slot-code.js";
import claimRow from "./claim-row.wgsl";
import {
  type BatchKernel,
  changing,
  elements,
  type TableBinding,
  type TableKernels,
  type TableParam,
  tableParams,
} from "./direct-kernels.js";
import eachClaim from "./each-claim.wgsl";
import settle from "./settle.wgsl";

/** The largest tag of a key of two words, without the bits that say which words are EMPTY. */
const MOST_PAIR_TAG = 0xfffffff8;

/**
 * Probing, with the tags of entries. That of a key of two words says in its last two bits which of them are EMPTY's bit
 * pattern: so a word of a claimed slot that is EMPTY, and is not said to be, is one that nobody has written yet
 * (src/wgsl/claim-words.wgsl).
 */
export function rowProbing(spec: TableSpec, hashing: string): string {
  const { keyWords } = slotFormat(spec);
  const words = each(keyWords, (i) => word("key", i, keyWords)).join(", ");
  const hash = `hashWords(array<u32, KEY_WORDS>(${words})) >> 1u`;
  const tag =
    keyWords === 2
      ? `min(ENTRY | ((${hash}) & ~3u), ${MOST_PAIR_TAG}u) | u32(key.x == EMPTY) | (u32(key.y == EMPTY) << 1u)`
      : `min(ENTRY | (${hash}), ${MOST_TAG}u)`;
  const state = `${floatKeys}
fn stateOf(key: Key) -> u32 { return ${tag}; }
fn hashOfState(state: u32) -> u32 { return state << 1u; }`;
  return probingCode(spec, hashing, state);
}

/** Reading the key column of a batch. For modules with params.keyShift and the binding `keys`. */
export function rowKeyColumn({ keyWords, keyFloats }: SlotFormat): Fragment<never, never> {
  const words = Array.from({ length: keyWords }, (_, i) => `keys[at + ${i}u]`);
  for (const { at, words: size } of keyFloats) {
    const [low, high] = [words[at], words[at + 1]];
    words[at] = size === 1 ? `canonicalF32(${low})` : `canonicalF64(${low}, ${high}).x`;
    if (size === 2) words[at + 1] = `canonicalF64(${low}, ${high}).y`;
  }
  return wgsl(`
fn keyOf(element: u32) -> Key {
  let at = params.keyShift + element * KEY_WORDS;
  return ${compose(keyWords, (i) => words[i])};
}`);
}

/** How the insert kernel claims: elements note what they have claimed. */
export const rowClaiming = wgsl(claimRow, { bindings: { claims: readWrite() } });

/** The kernel that writes entries into claimed slots, after each insert dispatch. */
export const settleKernel = (parts: ClaimParts) =>
  claimsKernel("settle", parts, wgsl(settle, { constants: ["FILL"] }));

/** What kernels over the batches of one kind of table are made of. */
type ClaimParts = Pick<TableKernels, "code" | "keyColumn">;

/** A kernel over the elements that have noted slots. @param claiming with onClaim */
export function claimsKernel(
  label: string,
  { code, keyColumn }: ClaimParts,
  ...claiming: readonly Fragment<TableBinding, string>[]
): BatchKernel {
  return kernelSource<TableParam, TableBinding, string>(label, tableParams, [
    wgsl(code.probing),
    ...elements(keyColumn),
    ...changing(code),
    wgsl(eachClaim, { bindings: { values: read(), claims: readWrite() } }),
    ...claiming,
  ]);
}
