/** The texts of the fragments "columns/…". */

import type { Texts } from "../device/texts.js";
import gatherBytes from "./columns/gather-bytes.wgsl";
import gatherSmall from "./columns/gather-small.wgsl";
import gatherWords from "./columns/gather-words.wgsl";
import maskRows from "./columns/mask-rows.wgsl";
import stringLengths from "./columns/string-lengths.wgsl";

export const columnsTexts: Texts = {
  "gather-bytes": gatherBytes,
  "gather-small": gatherSmall,
  "gather-words": gatherWords,
  "mask-rows": maskRows,
  "string-lengths": stringLengths,
};
