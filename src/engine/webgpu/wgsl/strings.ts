/** The texts of the fragments "strings/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./strings?texts";

export const stringsTexts: Texts = texts;
