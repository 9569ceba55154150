/** The program of the workers that decode parts of a file and group their rows, or decode columns for all threads to group. */
import { sumGroups } from "../../engine/cpu/groups/sum-groups.js";
import { provide } from "../../host/provide.js";
import { decodePart, type ParquetPart } from "../../io/parquet/parquet-part.js";
import { decodeChunks, viewsOfColumn } from "../../io/parquet/parquet-read-task.js";
import { type GroupedPart, groupPart, type PartStates, viewsOfStates } from "../aggregate/part-states.js";

const rooms: Parameters<typeof decodePart>[1] = [];
/** One part at a time has the rooms. */
let before: Promise<unknown> = Promise.resolve();

async function grouped({ data, grouping }: GroupedPart): Promise<PartStates> {
  const rows = await decodePart(data as ParquetPart, rooms, grouping.merges);
  return groupPart(rows, grouping, (keys, columns, call) => sumGroups(null, keys, columns, call));
}

provide<GroupedPart, PartStates>(
  "group parts",
  (part) => {
    const made = before.then(() => grouped(part));
    before = made.catch(() => {});
    return made;
  },
  viewsOfStates,
);

provide("parquet-read", decodeChunks, viewsOfColumn);
