/** WGSL for items, which become slots of one or two words, and for the state words of such slots. */
import type { SlotFormat } from "../../slot-format.js";
import { compose, typeOf, word } from "../table/slot-code.js";

/** Items of partitioned batches: a key word, or a key word and a value word. They become slots of formats of one or two words. */
export function itemCode(kind: "key" | "pair"): string {
  const words = kind === "pair" ? 2 : 1;
  return `
alias Item = ${typeOf(words)};
fn itemKey(item: Item) -> u32 { return ${word("item", 0, words)}; }
fn itemValue(item: Item) -> u32 { return ${words === 2 ? "item[1]" : "0u"}; }
fn makeItem(key: u32, value: u32) -> Item { return ${words === 2 ? "vec2u(key, value)" : "key"}; }`;
}

/** Writing state words of \`slots: array<Slot>\`, which a workgroup owns. */
export function erasingCode({ slotWords }: SlotFormat): string {
  return `
fn setEmpty(at: u32) { slots[at] = ${compose(slotWords, () => "EMPTY")}; }
fn setState(at: u32, state: u32) { ${word("slots[at]", 0, slotWords)} = state; }`;
}
