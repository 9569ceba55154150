/** The texts of the fragments "partitioned/…". */
import type { Texts } from "../device/texts.js";
import casSeen from "../partitioned/cas-seen.wgsl";
import lanesPlain from "../partitioned/lanes-plain.wgsl";
import lanesSubgroups from "../partitioned/lanes-subgroups.wgsl";
import packPlain from "../partitioned/pack-plain.wgsl";
import packSubgroups from "../partitioned/pack-subgroups.wgsl";
import tile from "../partitioned/tile.wgsl";

export const partitionedTexts: Texts = {
  "cas-seen": casSeen,
  "lanes-plain": lanesPlain,
  "lanes-subgroups": { code: lanesSubgroups, enables: ["subgroups"] },
  "pack-plain": packPlain,
  "pack-subgroups": packSubgroups,
  tile,
};
