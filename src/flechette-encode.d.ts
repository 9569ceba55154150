/** The parts of flechette's encoder and decoder that src/io/arrow uses; it has no declarations for them. */

declare module "@uwdata/flechette/src/encode/builder.js" {
  /** Where a record batch is in a file. */
  export interface Block {
    readonly offset: number;
    readonly metadataLength: number;
    readonly bodyLength: number;
  }

  /** Writes FlatBuffers to a sink. */
  export class Builder {
    constructor(sink: { write(bytes: Uint8Array): void });
  }
}

declare module "@uwdata/flechette/src/encode/footer.js" {
  import type { Schema } from "@uwdata/flechette";
  import type { Block, Builder } from "@uwdata/flechette/src/encode/builder.js";

  export function writeFooter(
    builder: Builder,
    schema: Schema,
    dictionaries: readonly Block[],
    records: readonly Block[],
    metadata: Map<string, string> | null,
  ): void;
}

declare module "@uwdata/flechette/src/decode/message.js" {
  /** The message at `index`; null at the end of a stream. */
  export function decodeMessage(
    bytes: Uint8Array,
    index: number,
  ): { readonly type: number; readonly index: number } | null;
}

declare module "@uwdata/flechette/src/encode/encode-ipc.js" {
  /** Writes messages of batches, and an end mark; of a schema only where there is one. */
  export function encodeIPC(
    data: { readonly dictionaries: readonly object[]; readonly records: readonly object[] },
    options: { readonly sink: { write(bytes: Uint8Array): void; pad(count: number): void } },
  ): void;
}
