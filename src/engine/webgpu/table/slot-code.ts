/**
 * WGSL for a slot format (engine/slot-format.ts): the types Key, Slot and Found, and the functions that load, compare
 * and store keys, values and entries. Kernels are written over these and know no widths. Reading takes a binding
 * `table: array<Slot>`, changing one `table: array<atomic<Word>>`; columns are arrays of words. It has all formats; the
 * direct kernels of plain tables take theirs from plain-slots.ts.
 */
import type { TableSpec } from "../../layout.js";
import { type SlotFormat, slotFormat } from "../../slot-format.js";
import { KEY_STATE, probingText, type SlotCode } from "./plain-slots.js";

/** What the direct kernels of a table are written over. */
export function slotCode(spec: TableSpec, hashing: string): SlotCode {
  const format = slotFormat(spec);
  return {
    probing: probingCode(spec, hashing),
    reading: readingCode(format),
    changing: changingCode(format),
    found: foundColumnCode(format),
  };
}

/**
 * How a table's keys are hashed and its slots are probed, without bindings: also for users' own kernels.
 * @param hashing that of hash-code.ts.
 * @param state stateOf and hashOfState; for slots that are claimed by row those of row-claims.ts.
 */
export function probingCode(spec: TableSpec, hashing: string, state = KEY_STATE): string {
  return probingText(spec, typesCode(slotFormat(spec)), hashing, state);
}

/** Types of a key, a slot, and what a look-up answers: the value, or in sets the stored key. */
function typesCode(format: SlotFormat): string {
  const { keyWords, keyOffset, valueWords, valueOffset, slotWords } = format;
  const isSet = valueWords === 0;
  const count = isSet ? keyWords : valueWords;
  const part = (from: number, count: number) => compose(count, (i) => word("slot", from + i, slotWords));
  // a set's slot for a sentinel key does not hold the key
  const found = compose(count, (i) =>
    isSet ? word("key", i, count) : word("slot", valueOffset + i, slotWords),
  );
  return `
alias Key = ${typeOf(keyWords)};
alias Slot = ${typeOf(slotWords)};
alias Found = ${typeOf(count)};
const FOUND_WORDS: u32 = ${count}u;
/// The state word of a slot: that of its key where slots are claimed by key.
fn stateIn(slot: Slot) -> u32 { return ${word("slot", 0, slotWords)}; }
fn keyIn(slot: Slot) -> Key { return ${part(keyOffset, keyWords)}; }
/// What a look-up of \`key\` answers from the slot that holds it.
fn foundIn(slot: Slot, key: Key) -> Found { return ${found}; }
fn sameKey(a: Key, b: Key) -> bool { return ${each(keyWords, (i) => `${word("a", i, keyWords)} == ${word("b", i, keyWords)}`).join(" && ")}; }
fn firstWord(found: Found) -> u32 { return ${word("found", 0, count)}; }`;
}

/** Reading slots of \`table: array<Slot>\`. */
export function readingCode({ claim }: SlotFormat): string {
  const holds =
    claim === "key" ? "state == probe.word" : "state == probe.word && sameKey(keyIn(table[at]), key)";
  return `
/// What a probe sees of a slot: here all of it.
alias Look = Slot;
fn lookAt(at: u32) -> Look { return table[at]; }
fn stateSeen(look: Look) -> u32 { return stateIn(look); }
/// Whether the slot at \`at\` of the binding, whose state word is \`state\`, holds a key.
fn holds(at: u32, state: u32, probe: Probe, key: Key) -> bool { return ${holds}; }`;
}

/**
 * Reading and changing slots of `table: array<atomic<Word>>`.
 * @param claimed whether the row of the batch that has claimed a slot in this dispatch has the key
 */
export function changingCode(
  { claim, keyWords, keyOffset }: SlotFormat,
  claimed = "state < ENTRY && sameKey(keyOf(state), key)",
): string {
  const key = compose(
    keyWords,
    (i) => `bitcast<u32>(atomicLoad(&table[at * SLOT_WORDS + ${keyOffset + i}u]))`,
  );
  const holds =
    claim === "key"
      ? "  return state == probe.word;"
      : `  if (state == probe.word) { return sameKey(storedKey(at), key); }
  return ${claimed};`;
  return `
/// What a probe sees of a slot: its state word.
alias Look = u32;
fn lookAt(at: u32) -> Look { return bitcast<u32>(atomicLoad(&table[at * SLOT_WORDS])); }
fn stateSeen(look: Look) -> u32 { return look; }
fn storedKey(at: u32) -> Key { return ${key}; }
/// Whether the slot at \`at\` of the binding, whose state word is \`state\`, holds a key.
fn holds(at: u32, state: u32, probe: Probe, key: Key) -> bool {
${holds}
}`;
}

/** Writing what look-ups answer. For modules with params.valueShift, .fill and .fillHigh and the binding `values`. */
export function foundColumnCode(format: SlotFormat): string {
  const count = format.valueWords === 0 ? format.keyWords : format.valueWords;
  const missing = compose(count, (i) => ["params.fill", "params.fillHigh"][i] ?? "0u");
  return `
fn missingFound() -> Found { return ${missing}; }
fn writeFound(element: u32, found: Found) {
  let at = params.valueShift + element * FOUND_WORDS;
  ${each(count, (i) => `values[at + ${i}u] = ${word("found", i, count)};`).join(" ")}
}`;
}

/** The WGSL type of so many words. */
export function typeOf(words: number): string {
  if (words === 1) return "u32";
  return words === 2 ? "vec2u" : `array<u32, ${words}>`;
}

/** Word `i` of an expression of so many words. */
export function word(expression: string, i: number, words: number): string {
  return words === 1 ? expression : `${expression}[${i}]`;
}

/** An expression of so many words, of one for each. */
export function compose(words: number, expression: (i: number) => string): string {
  return words === 1 ? expression(0) : `${typeOf(words)}(${each(words, expression).join(", ")})`;
}

/** An expression for each of so many words. */
export function each(words: number, expression: (i: number) => string): string[] {
  return Array.from({ length: words }, (_, i) => expression(i));
}
