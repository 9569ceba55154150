/** The texts of the fragments "sketches/…". */

import type { Texts } from "../device/texts.js";
import combine from "./sketches/combine.wgsl";
import filterAdd from "./sketches/filter-add.wgsl";
import filterContains from "./sketches/filter-contains.wgsl";
import keys from "./sketches/keys.wgsl";
import registersAdd from "./sketches/registers-add.wgsl";

export const sketchesTexts: Texts = {
  combine,
  "filter-add": filterAdd,
  "filter-contains": filterContains,
  keys,
  "registers-add": registersAdd,
};
