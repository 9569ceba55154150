/** The texts of the fragments "columns/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./columns?texts";

export const columnsTexts: Texts = texts;
