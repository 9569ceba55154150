/** The texts of the fragments "reduce/…". */

import type { Texts } from "../device/texts.js";
import addValues from "./reduce/add-values.wgsl";
import addends from "./reduce/addends.wgsl";
import claimSlot from "./reduce/claim-slot.wgsl";
import countKeys from "./reduce/count-keys.wgsl";
import countMarks from "./reduce/count-marks.wgsl";
import findSlot from "./reduce/find-slot.wgsl";
import finishCounts from "./reduce/finish-counts.wgsl";
import finishDoubles from "./reduce/finish-doubles.wgsl";
import finishMeans from "./reduce/finish-means.wgsl";
import finishRows from "./reduce/finish-rows.wgsl";
import finishSums from "./reduce/finish-sums.wgsl";
import finishValidity from "./reduce/finish-validity.wgsl";
import groupCache from "./reduce/group-cache.wgsl";
import keySlots from "./reduce/key-slots.wgsl";
import keyedHash from "./reduce/keyed-hash.wgsl";
import keyedRows from "./reduce/keyed-rows.wgsl";
import listMarked from "./reduce/list-marked.wgsl";
import listedRows from "./reduce/listed-rows.wgsl";
import markKept from "./reduce/mark-kept.wgsl";
import mixedKey from "./reduce/mixed-key.wgsl";
import nearestDouble from "./reduce/nearest-double.wgsl";
import numberedRows from "./reduce/numbered-rows.wgsl";
import orderGroups from "./reduce/order-groups.wgsl";
import partItems from "./reduce/part-items.wgsl";
import putGroups from "./reduce/put-groups.wgsl";
import putPartItem from "./reduce/put-part-item.wgsl";
import raise from "./reduce/raise.wgsl";
import sampleKeys from "./reduce/sample-keys.wgsl";
import scatterRows from "./reduce/scatter-rows.wgsl";
import sortGroups from "./reduce/sort-groups.wgsl";
import splitParts from "./reduce/split-parts.wgsl";
import splitRows from "./reduce/split-rows.wgsl";
import sumParts from "./reduce/sum-parts.wgsl";
import surveyKeys from "./reduce/survey-keys.wgsl";
import surveyValues from "./reduce/survey-values.wgsl";
import tileRows from "./reduce/tile-rows.wgsl";
import total from "./reduce/total.wgsl";
import values from "./reduce/values.wgsl";
import wholeFloat from "./reduce/whole-float.wgsl";

export const reduceTexts: Texts = {
  "add-values": addValues,
  addends,
  "claim-slot": claimSlot,
  "count-keys": countKeys,
  "count-marks": countMarks,
  "find-slot": findSlot,
  "finish-counts": finishCounts,
  "finish-doubles": finishDoubles,
  "finish-means": finishMeans,
  "finish-rows": finishRows,
  "finish-sums": finishSums,
  "finish-validity": finishValidity,
  "group-cache": groupCache,
  "key-slots": keySlots,
  "keyed-hash": keyedHash,
  "keyed-rows": keyedRows,
  "list-marked": listMarked,
  "listed-rows": listedRows,
  "mark-kept": markKept,
  "mixed-key": mixedKey,
  "nearest-double": nearestDouble,
  "numbered-rows": numberedRows,
  "order-groups": orderGroups,
  "part-items": partItems,
  "put-groups": putGroups,
  "put-part-item": putPartItem,
  raise,
  "sample-keys": sampleKeys,
  "scatter-rows": scatterRows,
  "sort-groups": sortGroups,
  "split-parts": splitParts,
  "split-rows": splitRows,
  "sum-parts": sumParts,
  "survey-keys": surveyKeys,
  "survey-values": surveyValues,
  "tile-rows": tileRows,
  total,
  values,
  "whole-float": wholeFloat,
};
