/** A block of a csv file that is written, as the work of any thread. */

import { TextBuffer } from "../text-buffer.js";
import type { Part } from "./csv-parts.js";
import { Quoting } from "./csv-quoting.js";
import { RowWriter, type Run } from "./csv-rows.js";

/** Runs of the same columns. */
export interface RowsJob {
  readonly delimiter: string;
  readonly columns: number;
  readonly runs: readonly Run[];
  /** What holds their values, where they are packed. */
  readonly buffer: ArrayBuffer | null;
}

/** What comes of it. */
export interface RowsText {
  readonly text: Uint8Array;
  /** The buffer of a packed job, to be used again. */
  readonly spent: ArrayBuffer | null;
}

/** Of the last job, which the next one is often like: what writes its columns, and the room for its text. */
let writer: RowWriter | undefined;
let room = 0;

/** The text of a block, in memory of its own. */
export function rowsText({ delimiter, columns, runs, buffer }: RowsJob): RowsText {
  if (writer?.columns !== columns || writer.quoting.delimiter !== delimiter) {
    writer = new RowWriter(columns, new Quoting(delimiter));
    room = FIRST_ROOM;
  }
  const out = new TextBuffer(room);
  for (const run of runs) writer.write(out, run);
  room = Math.max(FIRST_ROOM, out.at + (out.at >>> 4));
  return { text: out.bytes.subarray(0, out.at), spent: buffer };
}

const FIRST_ROOM = 1 << 16;

/** Packs jobs in buffers of their own, which can be handed over and come back. Dictionaries stay where they are. */
export class JobPacker {
  readonly #spent: ArrayBuffer[] = [];

  /** Takes a buffer that came back. */
  take(buffer: ArrayBuffer | null): void {
    if (buffer) this.#spent.push(buffer);
  }

  pack(job: RowsJob): { input: RowsJob; transfer: ArrayBuffer[] } {
    const size = job.runs.reduce(
      (sum, { parts }) => sum + parts.reduce((of, part) => of + sizeOf(part), 0),
      0,
    );
    let buffer = this.#spent.pop();
    if (buffer === undefined || buffer.byteLength < size) buffer = new ArrayBuffer(size + (size >>> 4));
    const packing = new Packing(buffer);
    const runs = job.runs.map(({ rows, parts }) => ({
      rows,
      parts: parts.map((part) => packing.part(part)),
    }));
    return { input: { ...job, runs, buffer }, transfer: [buffer] };
  }
}

/** Values of a part start at multiples of this. */
const ALIGN = 8;

const roundedUp = (bytes: number) => Math.ceil(bytes / ALIGN) * ALIGN;

/** Bytes that a packed part takes. */
function sizeOf(part: Part): number {
  return arraysOf(part).reduce((sum, { byteLength }) => sum + roundedUp(byteLength), 0);
}

type Values = Uint8Array | Uint16Array | Uint32Array;

function arraysOf(part: Part): Values[] {
  const arrays: Values[] = [];
  if (part.bits) arrays.push(part.bits);
  if ("data" in part) arrays.push(part.data);
  if ("offsets" in part) arrays.push(part.offsets);
  if ("codes" in part) arrays.push(part.codes);
  return arrays;
}

/** Copies arrays end to end. */
class Packing {
  #at = 0;

  constructor(readonly buffer: ArrayBuffer) {}

  part(part: Part): Part {
    const bits = part.bits && this.#copy(part.bits);
    switch (part.kind) {
      case "null":
        return { ...part, bits };
      case "text":
      case "made":
        return { ...part, bits, data: this.#copy(part.data), offsets: this.#copy(part.offsets) };
      case "codes":
        return { ...part, bits, codes: this.#copy(part.codes) };
      default:
        return { ...part, bits, data: this.#copy(part.data) };
    }
  }

  #copy<Array extends Values>(values: Array): Array {
    const Values = values.constructor as new (buffer: ArrayBuffer, at: number, length: number) => Array;
    const copy = new Values(this.buffer, this.#at, values.length);
    copy.set(values);
    this.#at += roundedUp(values.byteLength);
    return copy;
  }
}
