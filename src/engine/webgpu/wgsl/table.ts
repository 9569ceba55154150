/** The texts of the fragments "table/…". */
import type { Texts } from "../device/texts.js";
import floatKeys from "../table/float-keys.wgsl";
import hashWide from "../table/hash-wide.wgsl";

export const tableTexts: Texts = {
  "float-keys": floatKeys,
  "hash-wide": hashWide,
};
