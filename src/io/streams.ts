/** Bytes that come piece by piece. */

/** Bytes in order, in pieces of any size. Each piece belongs to who reads it. */
export type Pieces = AsyncIterable<Uint8Array>;

/** Not all browsers let `for await` read a stream. */
export async function* readStream(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let ended = false;
  try {
    for (;;) {
      const { value, done } = await reader.read();
      ended = done;
      if (done) return;
      yield value;
    }
  } finally {
    if (!ended) await reader.cancel();
  }
}

/** Rejects with the signal's reason, also while a piece is waited for. */
export async function* untilAborted(
  pieces: Pieces,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  let stop = () => {};
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal?.reason);
    signal?.addEventListener("abort", stop);
  });
  aborted.catch(() => {});
  let ended = false;
  try {
    for (;;) {
      signal?.throwIfAborted();
      const { value, done } = await Promise.race([iterator.next(), aborted]);
      ended = done === true;
      if (ended) return;
      yield value;
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    if (!ended) void iterator.return?.()?.then(undefined, () => {}); // may wait for what never comes
  }
}

/** What comes out of `transform` for these bytes. Errors of `pieces` come through as they are. */
export async function* transformed(
  pieces: Pieces,
  { readable, writable }: CompressionStream | DecompressionStream,
): AsyncGenerator<Uint8Array> {
  const writer = writable.getWriter();
  let failure: unknown;
  const feed = async () => {
    for await (const piece of pieces) {
      await writer.write(piece as Uint8Array<ArrayBuffer>).catch(() => {
        throw new Stopped();
      });
    }
    await writer.close();
  };
  const fed = feed().catch((error: unknown) => {
    if (error instanceof Stopped) return;
    failure ??= error;
    return writer.abort(error).catch(() => {});
  });
  try {
    yield* readStream(readable);
    await fed;
  } catch (error) {
    throw failure ?? error;
  }
}

/** The transform takes no more: what reads from it is told why. */
class Stopped extends Error {}
