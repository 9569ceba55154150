/**
 * Joins of which one side comes in parts: each is joined with the whole other side. Rows of the whole side that match nothing are known
 * at the end; so are all rows of semi and anti joins of it.
 */
import { countSet } from "../../bitmaps.js";
import { type JoinKind, rowsWhere, type Segment, type Sides } from "../../engine/join-kinds.js";

/** What each part of a side adds to a kind of join; null: nothing. */
export const PARTS = {
  left: { inner: "inner", left: "left", right: "inner", full: "left", semi: "semi", anti: "anti" },
  right: { inner: "inner", left: "inner", right: "right", full: "right", semi: null, anti: null },
} as const satisfies Sides<Record<JoinKind, JoinKind | null>>;

/**
 * The whole side's rows that are known when all parts were joined; null where the kind of join wants none of them.
 * @param side which comes in parts
 * @param matched one bit for each of the whole side's `count` rows: whether it matches something
 */
export function restOf(
  how: JoinKind,
  side: "left" | "right",
  matched: Uint8Array,
  count: number,
): Segment | null {
  const wanted = side === "left" ? how === "right" || how === "full" : how !== "inner" && how !== "right";
  if (!wanted) return null;
  const set = how === "semi";
  const found = countSet(matched, count);
  const rows = rowsWhere(matched, count, set, set ? found : count - found);
  return side === "left"
    ? { rows: rows.length, left: null, right: rows }
    : { rows: rows.length, left: rows, right: null };
}
