/** The texts of the fragments "batch/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./batch?texts";

export const batchTexts: Texts = texts;
