/** The texts of the fragments "sketches/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./sketches?texts";

export const sketchesTexts: Texts = texts;
