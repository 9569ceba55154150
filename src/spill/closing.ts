/** The end of a call that has several things open: one that cannot be closed is no reason to leave the others open. */

/** Closes all, one after the other. @throws the first error */
export async function closeAll(...opened: readonly { close(): Promise<void> }[]): Promise<void> {
  const failures: unknown[] = [];
  for (const each of opened) await each.close().catch((error: unknown) => void failures.push(error));
  if (failures.length > 0) throw failures[0];
}
