/** The texts of the fragments "batch/…". */

import type { Texts } from "../device/texts.js";
import pack from "./batch/pack.wgsl";
import split from "./batch/split.wgsl";

export const batchTexts: Texts = {
  pack,
  split,
};
