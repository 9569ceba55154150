/** The texts of the fragments "lists/…". */
import { slotFormat } from "../../slot-format.js";
import type { Texts } from "../device/texts.js";
import { itemCode } from "../partitioned/item-code.js";
import address from "./lists/address.wgsl";
import allocatePieces from "./lists/allocate-pieces.wgsl";
import compactEntries from "./lists/compact-entries.wgsl";
import countUp from "./lists/count-up.wgsl";
import drop from "./lists/drop.wgsl";
import expand from "./lists/expand.wgsl";
import flagRows from "./lists/flag-rows.wgsl";
import groupKeys from "./lists/group-keys.wgsl";
import headLists from "./lists/head-lists.wgsl";
import initLists from "./lists/init-lists.wgsl";
import itemTiles from "./lists/item-tiles.wgsl";
import lists from "./lists/lists.wgsl";
import locate from "./lists/locate.wgsl";
import lookUp from "./lists/look-up.wgsl";
import pair from "./lists/pair.wgsl";
import put from "./lists/put.wgsl";
import putGroups from "./lists/put-groups.wgsl";
import resetTallies from "./lists/reset-tallies.wgsl";
import resolveTargets from "./lists/resolve-targets.wgsl";
import shorten from "./lists/shorten.wgsl";
import stored from "./lists/stored.wgsl";
import tally from "./lists/tally.wgsl";
import tallyGroups from "./lists/tally-groups.wgsl";

/** Tables whose batches are grouped: keys of one word, and values, which are numbers. */
const KEYED_LISTS = slotFormat({ key: "u32", value: "u32" });

export const listsTexts: Texts = {
  address,
  "resolve-targets": resolveTargets,
  "allocate-pieces": allocatePieces,
  "init-lists": initLists,
  "count-up": countUp,
  drop,
  expand,
  "flag-rows": flagRows,
  "group-keys": groupKeys,
  "head-lists": headLists,
  "item-tiles": itemTiles,
  lists,
  locate,
  "look-up": lookUp,
  pair,
  put,
  "put-groups": putGroups,
  "reset-tallies": resetTallies,
  shorten,
  "compact-entries": compactEntries,
  stored,
  tally,
  "tally-groups": tallyGroups,
  "key-items": `alias Key = u32;${itemCode(KEYED_LISTS, "key")}`,
  "pair-items": `alias Key = u32;${itemCode(KEYED_LISTS, "pair")}`,
};
