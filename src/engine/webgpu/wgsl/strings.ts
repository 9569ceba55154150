/** The texts of the fragments "strings/…". */

import type { Texts } from "../device/texts.js";
import invocation from "./strings/invocation.wgsl";
import moveSlots from "./strings/move-slots.wgsl";
import numbers from "./strings/numbers.wgsl";
import places from "./strings/places.wgsl";
import probe from "./strings/probe.wgsl";
import settle from "./strings/settle.wgsl";
import strings from "./strings/strings.wgsl";

export const stringsTexts: Texts = {
  invocation,
  "move-slots": moveSlots,
  numbers,
  places,
  probe,
  settle,
  strings,
};
