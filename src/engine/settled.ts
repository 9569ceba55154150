/**
 * Waits for all; then throws the first error, if there was one: nothing goes on behind it.
 * @param giveUp what becomes of other results then
 */
export async function settled<T>(
  work: readonly Promise<T>[],
  giveUp: (result: T) => void = () => {},
): Promise<T[]> {
  const results = await Promise.allSettled(work);
  const failed = results.find((result) => result.status === "rejected");
  if (failed) {
    for (const result of results) if (result.status === "fulfilled") giveUp(result.value);
    throw failed.reason;
  }
  return results.map((result) => (result as PromiseFulfilledResult<T>).value);
}
