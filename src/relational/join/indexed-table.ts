/** The table of a JoinIndex: where its columns lie, and the engine's indexes of its keys. */

import { columnIndex, readTable, type SourceColumn, type SourceTable } from "../../arrow/columns.js";
import type { TableInput } from "../../arrow/table-input.js";
import type { Device } from "../../device.js";
import { lazily } from "../../engine/lazily.js";
import type { RowIndex } from "../../engine/row-operations.js";
import { untilAborted } from "../../until-aborted.js";
import type { Uploads } from "../device/device-keys.js";
import { commonDevice, DeviceTable } from "../device/device-table.js";
import { encodeSide, type FactorSide } from "../keys/encode-keys.js";
import type { KeyForm } from "../keys/key-types.js";

const loadKeys = lazily(() => import("../device/device-keys.js"));

export class IndexedTable {
  readonly table: SourceTable;
  /** The table, where it is on the device. */
  readonly there: DeviceTable | null;
  readonly keys: readonly SourceColumn[];
  /** The table with its values on the host. */
  #here: Promise<SourceTable> | undefined;
  #uploads: Promise<Uploads> | undefined;
  /** By the form of the keys, which depends on the types of both sides. */
  readonly #indexes = new Map<string, Promise<RowIndex>>();

  /** @throws ValidationError for columns that there are not, and for a table of another device */
  constructor(
    readonly device: Device,
    table: TableInput | DeviceTable,
    readonly on: readonly string[],
    readonly nullsEqual: boolean,
  ) {
    this.there = table instanceof DeviceTable ? table : null;
    if (this.there) commonDevice(device, [this.there]);
    this.table = table instanceof DeviceTable ? table.source : readTable(table, "indexed");
    this.keys = on.map((name) => this.table.column(columnIndex(this.table, name, "indexed")));
  }

  get rows(): number {
    return this.table.rows;
  }

  /** The table with its values on the host, where they are brought once. */
  onHost(): Promise<SourceTable> | SourceTable {
    if (this.there === null) return this.table;
    if (this.#here) return this.#here;
    const here = this.there.toArrow().then((table) => readTable(table, "indexed"));
    here.catch(() => {
      this.#here = undefined;
    });
    this.#here = here;
    return here;
  }

  /** Columns of the table on the device, which stay there. */
  uploads(): Promise<Uploads> {
    this.#uploads ??= loadKeys().then(({ Uploads }) => new Uploads(this.device.engine));
    return this.#uploads;
  }

  /**
   * The index of keys in some form; built when such keys come first. It is shared, so a signal ends the wait for it,
   * not its making.
   */
  indexFor(
    forms: readonly KeyForm[],
    factors: FactorSide,
    signal: AbortSignal | undefined,
  ): Promise<RowIndex> {
    return untilAborted(
      signal,
      () => this.#shared(forms, factors),
      () => {},
    );
  }

  async #shared(forms: readonly KeyForm[], factors: FactorSide): Promise<RowIndex> {
    const own = forms.map((form) => [
      form.kind,
      "words" in form && form.words,
      factors in form && form[factors as never],
    ]);
    const name = JSON.stringify(own);
    const known = this.#indexes.get(name);
    if (known) return known;
    const building = this.#build(forms, factors);
    this.#indexes.set(name, building);
    building.catch(() => this.#indexes.delete(name));
    return building;
  }

  async #build(forms: readonly KeyForm[], factors: FactorSide): Promise<RowIndex> {
    const keys = this.there
      ? await (await loadKeys()).deviceSide(this.keys, forms, this.rows, factors)
      : encodeSide(this.keys, forms, this.rows, factors);
    const rows = await this.device.engine.rows();
    return rows.index(keys, { nullsEqual: this.nullsEqual });
  }

  /** Frees the indexes and what was uploaded once something has ended. */
  destroyAfter(probed: Promise<unknown>): void {
    for (const index of this.#indexes.values()) {
      Promise.all([index, probed]).then(
        ([made]) => made.destroy(),
        () => {}, // it was never built
      );
    }
    this.#indexes.clear();
    Promise.all([this.#uploads, probed]).then(
      ([uploads]) => uploads?.destroy(),
      () => {},
    );
  }
}
