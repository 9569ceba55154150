/**
 * Arrow IPC files written batch by batch. Flechette writes whole tables only: every batch is written as a stream, and
 * of that the batch is taken; the footer, which says where batches are, is flechette's.
 */
import { type Table, tableToIPC } from "@uwdata/flechette";
import { decodeMessage } from "@uwdata/flechette/src/decode/message.js";
import { type Block, Builder } from "@uwdata/flechette/src/encode/builder.js";
import { writeFooter } from "@uwdata/flechette/src/encode/footer.js";
import type { TransferOptions } from "../formats.js";

/** How a file starts: "ARROW1" and padding. */
const START = Uint8Array.of(0x41, 0x52, 0x52, 0x4f, 0x57, 0x31, 0, 0);
/** What messages with a record batch say that they are (Arrow format, "Message.fbs"). */
const RECORD_BATCH = 3;
/** The end mark of a stream, which a file has as well. */
const END_BYTES = 8;

/** Tables of the same columns, at least one, each of one record batch and without dictionaries, as one file. */
export async function* arrowOfBatches(
  tables: AsyncIterable<Table>,
  { onProgress }: TransferOptions,
): AsyncGenerator<Uint8Array> {
  let first: Table | undefined;
  let at = 0;
  const blocks: Block[] = [];
  const counted = (bytes: Uint8Array) => {
    at += bytes.length;
    onProgress?.(at, at);
    return bytes;
  };
  for await (const table of tables) {
    const stream = tableToIPC(table, { format: "stream" }) as Uint8Array;
    const schemaEnd = messageEnd(stream, 0);
    if (first === undefined) {
      first = table;
      yield counted(START);
      yield counted(stream.subarray(0, schemaEnd));
    }
    if (table.numRows === 0) continue;
    const batch = stream.subarray(schemaEnd, stream.length - END_BYTES);
    checkAlone(batch);
    const metadataLength = messageEnd(batch, 0);
    blocks.push({ offset: at, metadataLength, bodyLength: batch.length - metadataLength });
    yield counted(batch);
  }
  if (first === undefined) return;
  yield counted(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0));
  const pieces: Uint8Array[] = [];
  const builder = new Builder({ write: (bytes) => void pieces.push(bytes.slice()) });
  writeFooter(builder, first.schema, [], blocks, null);
  for (const piece of pieces) yield counted(piece);
}

/** Where the metadata of the message at the start of some bytes ends: behind the mark and its length. */
function messageEnd(bytes: Uint8Array, at: number): number {
  return 8 + new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 4, true);
}

/** Checks that bytes are one record batch. A block that names something else reads as other values. */
function checkAlone(bytes: Uint8Array): void {
  const message = decodeMessage(bytes, 0);
  if (message !== null && message.type === RECORD_BATCH && message.index === bytes.length) return;
  throw new TypeError("a table that is written has a dictionary, or several record batches");
}
