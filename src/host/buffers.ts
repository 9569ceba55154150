/** What goes to another thread without a copy. */

/** The buffers of views, each once. Shared memory is not handed over: both threads have it. */
export function buffersOf(views: readonly (ArrayBufferView | null | undefined)[]): ArrayBuffer[] {
  const buffers = new Set<ArrayBuffer>();
  for (const view of views) {
    if (view?.buffer instanceof ArrayBuffer) buffers.add(view.buffer);
  }
  return [...buffers];
}
