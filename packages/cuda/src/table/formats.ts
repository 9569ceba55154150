/**
 * The slots of this engine's tables: what kernels/warpmap/ has as templates. Slots of 4, 8 and 16 bytes are claimed by
 * one compare-and-swap of their key; those of all other types by a state word. Everything else about a table is as
 * engine/layout.ts says, but for the side slots: 16-byte slots have a third sentinel, which marks a slot whose value is
 * being stored.
 */
import { type SlotFormat, slotFormat, type TableSpec } from "warpmap/engine";

/** What a slot holds. Offsets are in 32-bit words from its first. */
export interface CudaFormat extends SlotFormat {
  /** The kernels' name for it: the words of a key and of a value, or "wide". */
  readonly kind: string;
  /** Words at `keyOffset` or, of wide slots, at 0 that mark a slot which is EMPTY or a TOMBSTONE. */
  readonly markWords: number;
}

export function formatOf(spec: Pick<TableSpec, "key" | "value">): CudaFormat {
  const shared = slotFormat(spec);
  const { keyWords, valueWords } = shared;
  const kind = `${keyWords}_${valueWords}`;
  if (keyWords + valueWords <= 2)
    return { ...shared, kind, ...slots(keyWords + valueWords, keyWords), markWords: keyWords, sideSlots: 2 };
  if (keyWords <= 2 && valueWords <= 2)
    return { ...shared, kind, ...slots(4, 2), markWords: 2, sideSlots: 3 };
  const valueOffset = even(1 + keyWords);
  return {
    ...shared,
    kind: "wide",
    slotWords: even(valueOffset + valueWords),
    keyOffset: 1,
    valueOffset,
    markWords: 1,
    sideSlots: 0,
  };
}

/** Slots without a state word. */
const slots = (slotWords: number, valueOffset: number) => ({ slotWords, keyOffset: 0, valueOffset });

/** Rounded up to whole words of 64 bits. */
const even = (words: number) => words + (words % 2);

/** Bytes of a table's slots, side slots included, as kernels fill them: 16 at a time. */
export function slotsBytes(spec: TableSpec): number {
  const { slotWords, sideSlots } = formatOf(spec);
  return Math.ceil(((spec.slots + sideSlots) * slotWords * 4) / 16) * 16;
}
