/** The texts of the fragments "groups/…". */

import type { Texts } from "../device/texts.js";
import addTotal from "./groups/add-total.wgsl";
import bytesAt from "./groups/bytes-at.wgsl";
import eachElement from "./groups/each-element.wgsl";
import equal from "./groups/equal.wgsl";
import findGroup from "./groups/find-group.wgsl";
import keyPlace from "./groups/key-place.wgsl";
import keyRange from "./groups/key-range.wgsl";
import listMembers from "./groups/list-members.wgsl";
import mix from "./groups/mix.wgsl";
import narrowKeys from "./groups/narrow-keys.wgsl";
import numberGroups from "./groups/number-groups.wgsl";
import numberRows from "./groups/number-rows.wgsl";
import oneSide from "./groups/one-side.wgsl";
import pack from "./groups/pack.wgsl";
import packBytes from "./groups/pack-bytes.wgsl";
import packWords from "./groups/pack-words.wgsl";
import rowOf from "./groups/row-of.wgsl";
import rows from "./groups/rows.wgsl";
import scan from "./groups/scan.wgsl";
import scanAdd from "./groups/scan-add.wgsl";
import twoSides from "./groups/two-sides.wgsl";
import word from "./groups/word.wgsl";

export const groupsTexts: Texts = {
  "add-total": addTotal,
  "bytes-at": bytesAt,
  "each-element": eachElement,
  equal,
  "find-group": findGroup,
  "key-place": keyPlace,
  "key-range": keyRange,
  "list-members": listMembers,
  mix,
  "narrow-keys": narrowKeys,
  "number-groups": numberGroups,
  "number-rows": numberRows,
  "one-side": oneSide,
  pack,
  "pack-bytes": packBytes,
  "pack-words": packWords,
  "row-of": rowOf,
  rows,
  scan,
  "scan-add": scanAdd,
  "two-sides": twoSides,
  word,
};
