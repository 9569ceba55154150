/** The texts of the fragments "lists/…": the files of a folder, and items of tables whose batches are grouped. */
import { slotFormat } from "../../slot-format.js";
import type { Texts } from "../device/texts.js";
import { itemCode } from "../partitioned/item-code.js";
import texts from "./lists?texts";

/** Tables whose batches are grouped: keys of one word, and values, which are numbers. */
const KEYED_LISTS = slotFormat({ key: "u32", value: "u32" });

export const listsTexts: Texts = {
  ...texts,
  "key-items": `alias Key = u32;${itemCode(KEYED_LISTS, "key")}`,
  "pair-items": `alias Key = u32;${itemCode(KEYED_LISTS, "pair")}`,
};
