/** The texts of the fragments "join/…". */

import type { Texts } from "../device/texts.js";
import countPartners from "./join/count-partners.wgsl";
import countPlaced from "./join/count-placed.wgsl";
import countPlaces from "./join/count-places.wgsl";
import countUp from "./join/count-up.wgsl";
import denseMatches from "./join/dense-matches.wgsl";
import densePartners from "./join/dense-partners.wgsl";
import expand from "./join/expand.wgsl";
import flagsOfBits from "./join/flags-of-bits.wgsl";
import markRows from "./join/mark-rows.wgsl";
import matchCounts from "./join/match-counts.wgsl";
import matchParts from "./join/match-parts.wgsl";
import partnerListed from "./join/partner-listed.wgsl";
import partnerPlaced from "./join/partner-placed.wgsl";
import partners from "./join/partners.wgsl";
import placeRows from "./join/place-rows.wgsl";
import probe from "./join/probe.wgsl";
import selectRows from "./join/select-rows.wgsl";

export const joinTexts: Texts = {
  "count-partners": countPartners,
  "count-placed": countPlaced,
  "count-places": countPlaces,
  "count-up": countUp,
  "dense-matches": denseMatches,
  "dense-partners": densePartners,
  expand,
  "flags-of-bits": flagsOfBits,
  "mark-rows": markRows,
  "match-counts": matchCounts,
  "match-parts": matchParts,
  "partner-listed": partnerListed,
  "partner-placed": partnerPlaced,
  partners,
  "place-rows": placeRows,
  probe,
  "select-rows": selectRows,
};
