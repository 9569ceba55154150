/**
 * Windows: ranges of neighbouring slots that a table is bound in. A table that fits one binding has one window, the
 * whole; a larger one is a single buffer all the same, of which each dispatch sees one window.
 */
import { LimitError } from "../../../errors.js";
import type { GpuBuffer, Range } from "../../gpu/runtime.js";
import type { TableSpec } from "../../layout.js";
import { slotFormat, tableBytes } from "../../slot-format.js";

/** Slots first .. first + slots of a table, bound together. The side slots count as slots of the last window. */
export interface TableWindow {
  readonly first: number;
  readonly slots: number;
  readonly range: Range;
}

/** Windows start at multiples of this, in slots. */
const WINDOW_GRAIN = 4096;
/**
 * A submission has up to sixteen dispatches for each window, and some more, and its uniforms come from one ring: see
 * UNIFORM_SLOTS.
 */
const MOST_WINDOWS = 128;

/**
 * Cuts a table into windows of about equal size, none of more than `most` bytes.
 * @throws LimitError when that takes too many of them.
 */
export function cutWindows(spec: TableSpec, buffer: GpuBuffer, most: number): readonly TableWindow[] {
  const { slotWords, sideSlots } = slotFormat(spec);
  const slotBytes = slotWords * 4;
  const end = spec.slots + sideSlots;
  const window = (first: number, slots: number) => {
    return { first, slots, range: { buffer, offset: first * slotBytes, size: slots * slotBytes } };
  };
  if (end * slotBytes <= most) return [window(0, end)];
  const largest = Math.floor((most / slotBytes - sideSlots) / WINDOW_GRAIN) * WINDOW_GRAIN;
  const count = largest > 0 ? Math.ceil(spec.slots / largest) : Number.POSITIVE_INFINITY;
  if (count > MOST_WINDOWS) {
    throw new LimitError(
      "maxStorageBufferBindingSize",
      Math.ceil(tableBytes(spec) / MOST_WINDOWS),
      most,
      "Use a smaller capacity or a higher maxLoadFactor, or several tables.",
    );
  }
  const size = Math.min(largest, Math.ceil(spec.slots / count / WINDOW_GRAIN) * WINDOW_GRAIN);
  const windows: TableWindow[] = [];
  for (let first = 0; first < spec.slots; first += size) {
    const isLast = first + size >= spec.slots;
    windows.push(window(first, isLast ? end - first : size));
  }
  return windows;
}
