/**
 * A module that the first call loads. Later calls have it at once: import() takes a tenth of a millisecond even of a
 * module that is there. A load that fails is tried again by the next call.
 */
/* @__NO_SIDE_EFFECTS__ */
export function lazily<T>(load: () => Promise<T>): () => Promise<T> {
  let loaded: T | undefined;
  return async () => {
    loaded ??= await load();
    return loaded;
  };
}
