/** The texts of the fragments "groups/…": the files of a folder. */
import type { Texts } from "../device/texts.js";
import texts from "./groups?texts";

export const groupsTexts: Texts = texts;
