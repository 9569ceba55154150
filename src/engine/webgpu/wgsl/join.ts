/** The texts of the fragments "join/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./join?texts";

export const joinTexts: Texts = texts;
