/** WGSL for the items of partitioned batches, and for what they have to do with the slots of a format. */
import type { ItemKind } from "../../gpu/partitioning.js";
import type { SlotFormat } from "../../slot-format.js";
import { compose, each, typeOf, word } from "../table/slot-code.js";
import { itemWords } from "./partition-params.js";

/**
 * Items: the words of a key, or of a key and a value. For modules with the types Key and Slot.
 *
 * | code | |
 * |---|---|
 * | Item, Carried | an item; the value that it has (of a key alone: nothing that counts) |
 * | itemKey, itemValue, makeItem | an item's parts |
 * | countItem, countIn | a number in an item's place |
 */
export function itemCode(format: SlotFormat, kind: ItemKind): string {
  const { keyWords, valueWords } = format;
  const words = itemWords(format, kind);
  const isPair = kind === "pair";
  const part = (i: number) => word("item", i, words);
  const made = (i: number) =>
    i < keyWords ? word("key", i, keyWords) : word("value", i - keyWords, valueWords);
  return `
alias Item = ${itemType(words)};
alias Carried = ${typeOf(Math.max(valueWords, 1))};
fn itemKey(item: Item) -> Key { return ${compose(keyWords, part)}; }
fn itemValue(item: Item) -> Carried { return ${isPair ? compose(valueWords, (i) => part(keyWords + i)) : "Carried()"}; }
fn makeItem(key: Key, value: Carried) -> Item { return ${composeItem(words, made)}; }
fn countItem(count: u32) -> Item { return ${composeItem(words, (i) => (i === 0 ? "count" : "0u"))}; }
fn countIn(item: Item) -> u32 { return ${part(0)}; }`;
}

/** The value of an element of the batch. For modules with params.valueShift and, of pairs, the binding `values`. */
export function carriedCode({ valueWords }: SlotFormat, kind: ItemKind): string {
  const of = (i: number) => `values[params.valueShift + element * VALUE_WORDS + ${i}u]`;
  const value = kind === "pair" ? compose(valueWords, of) : "Carried()";
  return `
fn carriedOf(element: u32) -> Carried { return ${value}; }`;
}

/** Slots that hold items, which are all that a slot holds besides its state word. After itemCode. */
export function slotItemCode(format: SlotFormat, kind: ItemKind): string {
  const { slotWords, keyOffset } = format;
  const words = itemWords(format, kind);
  const slotWord = (i: number) =>
    i < keyOffset ? "stateOf(itemKey(item))" : word("item", i - keyOffset, words);
  return `
fn slotFrom(item: Item) -> Slot { return ${compose(slotWords, slotWord)}; }
fn itemIn(slot: Slot) -> Item { return ${composeItem(words, (i) => word("slot", keyOffset + i, slotWords))}; }
fn emptySlot() -> Slot { return ${compose(slotWords, () => "EMPTY")}; }`;
}

/** Bits of a key in which keys of one home mostly differ. */
export function mixCode({ keyWords }: SlotFormat): string {
  const mixed = each(keyWords, (i) => word("key", i, keyWords)).reduce((before, next) => {
    return `((${before} * 0x85ebca6bu) ^ ${next})`;
  });
  return `
fn mixOf(key: Key) -> u32 { return ${mixed} * 0x9e3779b1u; }`;
}

/** What a look-up answers, with a word that stands for something in the first place. */
export function asFoundCode({ keyWords, valueWords }: SlotFormat): string {
  const words = valueWords || keyWords;
  return `
fn asFound(first: u32) -> Found { return ${compose(words, (i) => (i === 0 ? "first" : "0u"))}; }`;
}

/** Writing state words of `slots: array<Slot>`, which a workgroup owns. */
export function erasingCode({ slotWords }: SlotFormat): string {
  return `
fn setEmpty(at: u32) { slots[at] = ${compose(slotWords, () => "EMPTY")}; }
fn setState(at: u32, state: u32) { ${word("slots[at]", 0, slotWords)} = state; }`;
}

/** The type of an item: one of four words is loaded and stored as one. */
function itemType(words: number): string {
  return words === 4 ? "vec4u" : typeOf(words);
}

function composeItem(words: number, expression: (i: number) => string): string {
  return words === 1 ? expression(0) : `${itemType(words)}(${each(words, expression).join(", ")})`;
}
