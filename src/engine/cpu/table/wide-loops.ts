/**
 * The loops over wide slots, in input order on the calling thread. Wide slots are those of keys or values of more than
 * one word: any SlotFormat that `isWide`. They are not as fast as the loops over narrow slots, and are not shared with
 * workers.
 */
import type { SlotFormat } from "../../slot-format.js";
import type { TableMemory } from "./blocks.js";
import type { ChunkWork } from "./chunks.js";
import type { InsertColumns, Territory } from "./probes.js";
import type { Collector } from "./scan.js";
import type { Columns } from "./sequential.js";
import type { LookUpColumns, SlotLoops } from "./slot-loops.js";
import { WideCursor } from "./wide-cursor.js";
import { WideFullTable } from "./wide-full-table.js";
import { eraseWide, findWide, insertWide } from "./wide-probes.js";
import { collectWideSlots, WideMeasurement } from "./wide-scan.js";

export class WideLoops implements SlotLoops {
  constructor(private readonly format: SlotFormat) {}

  insert(at: Territory, columns: InsertColumns<Columns>): ChunkWork {
    const cursor = this.#cursor(at.table);
    const full = new WideFullTable(cursor);
    return this.#alone((chunk) => insertWide(cursor, at, chunk, columns, full));
  }

  find(table: TableMemory, maxProbe: number, columns: LookUpColumns): ChunkWork {
    const cursor = this.#cursor(table);
    return this.#alone((chunk) => findWide(cursor, maxProbe, chunk, columns));
  }

  erase(at: Territory): ChunkWork {
    const cursor = this.#cursor(at.table);
    return this.#alone((chunk) => eraseWide(cursor, at, chunk));
  }

  collectSlots(table: TableMemory, from: number, to: number, into: Collector): void {
    collectWideSlots(table, this.format, from, to, into);
  }

  measurement(table: TableMemory): WideMeasurement {
    return new WideMeasurement(table, this.format);
  }

  #cursor(table: TableMemory): WideCursor {
    return new WideCursor(table, this.format);
  }

  #alone(alone: ChunkWork["alone"]): ChunkWork {
    return { alone, whyAlone: "keys or values of more than 32 bits are worked on by one thread" };
  }
}
