/** The values of groups side by side, and what lies at some part of the way through them in order. Exact. */

/** Values group after group, in any order, which finding quantiles changes. NaN is above all numbers; there is no −0. */
export interface PlacedValues {
  readonly values: Float64Array;
  /** Where each group begins, and where the last one ends. */
  readonly starts: Float64Array;
}

/**
 * Puts the values of each group side by side. Takes 8 bytes a value and 16 a group.
 * @param groupOf per value its group; the number behind the last group for nulls
 */
export function placeValues(values: ArrayLike<number>, groupOf: Uint32Array, groups: number): PlacedValues {
  const starts = new Float64Array(groups + 2);
  for (let row = 0; row < groupOf.length; row++) starts[groupOf[row] + 1]++;
  for (let group = 0; group <= groups; group++) starts[group + 1] += starts[group];
  const next = starts.slice(0, groups);
  const placed = new Float64Array(starts[groups]);
  for (let row = 0; row < groupOf.length; row++) {
    const group = groupOf[row];
    if (group < groups) placed[next[group]++] = values[row] + 0;
  }
  return { values: placed, starts: starts.subarray(0, groups + 1) };
}

/**
 * The value at a part of the way through a group's, interpolated between the two that are nearest: DuckDB's
 * `quantile_cont`, type 7 of Hyndman and Fan, "Sample Quantiles in Statistical Packages" (1996). The group has values.
 */
export function quantileOf({ values, starts }: PlacedValues, group: number, part: number): number {
  const [start, end] = [starts[group], starts[group + 1]];
  // apart from the start: their sum, of which many rows may be others', would round what the part has behind the point
  const at = part * (end - start - 1);
  const place = start + Math.floor(at);
  select(values, start, end - 1, place);
  const below = values[place];
  const rest = at - Math.floor(at);
  if (rest === 0) return below;
  let above = values[place + 1];
  for (let i = place + 2; i < end; i++) if (values[i] < above || Number.isNaN(above)) above = values[i];
  return below === above ? below : below * (1 - rest) + above * rest;
}

/** Ranges of fewer values are sorted by insertion. */
const SORTED_BELOW = 24;

/**
 * Puts the value that sorting would put at `place` there, less ones before it and greater ones behind it: Hoare's
 * quickselect. Where its pivots are bad, the rest is sorted.
 */
function select(values: Float64Array, first: number, last: number, place: number): void {
  let [low, high] = [first, last];
  // NaN does not compare: those go to the end
  for (let i = high; i >= low; i--) {
    if (!Number.isNaN(values[i])) continue;
    values[i] = values[high];
    values[high--] = Number.NaN;
  }
  if (place > high) return;
  for (let rounds = 2 * (32 - Math.clz32(high - low)); high - low >= SORTED_BELOW && rounds > 0; rounds--) {
    const pivot = middleOf(values[low], values[low + Math.floor((high - low) / 2)], values[high]);
    let [i, j] = [low, high];
    while (i <= j) {
      while (values[i] < pivot) i++;
      while (values[j] > pivot) j--;
      if (i > j) break;
      const value = values[i];
      values[i++] = values[j];
      values[j--] = value;
    }
    if (place <= j) high = j;
    else if (place >= i) low = i;
    else return;
  }
  if (high - low >= SORTED_BELOW) {
    const rest = Float64Array.from({ length: high - low + 1 }, (_, i) => values[low + i]).sort();
    for (let i = 0; i < rest.length; i++) values[low + i] = rest[i];
    return;
  }
  for (let i = low + 1; i <= high; i++) {
    const value = values[i];
    let at = i;
    for (; at > low && values[at - 1] > value; at--) values[at] = values[at - 1];
    values[at] = value;
  }
}

function middleOf(a: number, b: number, c: number): number {
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}
