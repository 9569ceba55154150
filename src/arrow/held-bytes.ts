/**
 * How much memory values take: the bytes of all typed arrays that can be reached from them, each array counted once.
 */

export function heldBytes(value: unknown): number {
  return countBytes(value, new Set());
}

/** What classes say of themselves whose arrays are private. */
interface Sized {
  readonly heldBytes: number;
}

function countBytes(value: unknown, seen: Set<unknown>): number {
  if (typeof value !== "object" || value === null || seen.has(value)) return 0;
  seen.add(value);
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if ("heldBytes" in value) return (value as Sized).heldBytes;
  const members = value instanceof Map ? value.values() : Object.values(value);
  let bytes = 0;
  for (const member of members) bytes += countBytes(member, seen);
  return bytes;
}
