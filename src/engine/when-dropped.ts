/**
 * Memory of objects that users dropped without `destroy`. The garbage collector says when, which may be late or never,
 * since it does not see the memory of a GPU or of shared buffers: `destroy` stays the way to free it.
 *
 * Invariant: only objects that users hold are registered, and calls under way hold them; what the engine works with by
 * itself it frees by itself.
 */
const dropped = new FinalizationRegistry<() => void>((free) => free());

/**
 * Calls `free` when `owner` was collected. `free` must not reach the owner, and does nothing where the memory is free
 * already.
 */
export function whenDropped(owner: object, free: () => void): void {
  dropped.register(owner, free, owner);
}

/** Frees nothing when `owner` is collected: it was destroyed, or its memory was handed to somebody. */
export function keepWhenDropped(owner: object): void {
  dropped.unregister(owner);
}
