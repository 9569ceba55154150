/** The texts of the fragments "reduce/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./reduce?texts";

export const reduceTexts: Texts = texts;
