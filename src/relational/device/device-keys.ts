/**
 * What operators on a device take from columns: uploaded where they are the host's, and as keys where their bits are
 * equal exactly when their values are.
 */

import type { SourceColumn } from "../../arrow/columns.js";
import { type DeviceKeys, destroyColumns, type Words } from "../../engine/device-columns.js";
import type { Engine } from "../../engine/engine.js";
import { encodeOwnKeys, encodeSide, type FactorSide } from "../keys/encode-keys.js";
import { type KeyForm, keyForm } from "../keys/key-types.js";
import { type TableColumn, uploadColumn } from "./column-transport.js";
import { deviceColumnOf, toHost } from "./device-table.js";
import { type CodeHost, codeKey } from "./dictionary-keys.js";

/** A key column on the device, or encoded on the host. */
export type DeviceKeyColumn = DeviceKeys["columns"][number];

/** Columns on the device by their sources; those of the host are uploaded once, and freed in the end. */
export class Uploads implements CodeHost {
  readonly #columns = new Map<SourceColumn, Promise<TableColumn>>();
  readonly #held: Words[] = [];

  constructor(readonly engine: Engine) {}

  readonly hold = (array: Words): Words => {
    this.#held.push(array);
    return array;
  };

  /** Uploads columns, if they are not there; `of` tells what fails. */
  begin(...sources: readonly (SourceColumn | undefined)[]): void {
    for (const source of sources) if (source) this.of(source).catch(() => {});
  }

  of(source: SourceColumn): Promise<TableColumn> {
    const there = deviceColumnOf(source);
    if (there) return Promise.resolve(there);
    const known = this.#columns.get(source) ?? uploadColumn(this.engine, source);
    this.#columns.set(source, known);
    return known;
  }

  async destroy(): Promise<void> {
    for (const array of this.#held) array.destroy();
    for (const each of await Promise.allSettled(this.#columns.values())) {
      if (each.status === "fulfilled") destroyColumns([each.value]);
    }
  }
}

/** A column as a key of its own, on the device as it is, or encoded on the host. */
export async function deviceKey(key: SourceColumn, rows: number, uploads: Uploads): Promise<DeviceKeyColumn> {
  const words = plainWords(key, key);
  const there = words === undefined ? undefined : await uploads.of(key);
  const own = there && words !== undefined ? keyOf(there, words) : undefined;
  const codes = there?.dictionary && words === 0 ? await codeKey(uploads, there) : undefined;
  return own ?? codes ?? encodeOwnKeys([await toHost(key)], rows).columns[0];
}

/**
 * A side's key columns in the forms that both sides were given: on the device where they are in that form, else encoded
 * on the host.
 */
export async function deviceSide(
  columns: readonly SourceColumn[],
  forms: readonly KeyForm[],
  rows: number,
  factors: FactorSide,
): Promise<DeviceKeys> {
  const encoded = columns.map(async (column, i): Promise<DeviceKeyColumn> => {
    const there = deviceColumnOf(column);
    const words = plainForm(forms[i], factors);
    const own = there && words !== undefined ? keyOf(there, words) : undefined;
    return own ?? encodeSide([await toHost(column)], [forms[i]], rows, factors).columns[0];
  });
  return { rows, columns: await Promise.all(encoded) };
}

/** Words of a side's values where its bits are those of a form, 0 for strings; undefined where they may be others. */
function plainForm(form: KeyForm, factors: FactorSide): number | undefined {
  if (form.kind === "bytes") return 0;
  return form.kind === "integer" && form[factors].length === 0 ? form.words : undefined;
}

/** Words of the values of two columns that can be compared as they are, 0 for strings; undefined where they cannot. */
export function plainWords(left: SourceColumn, right: SourceColumn): number | undefined {
  const form = keyForm(left.field, right.field);
  if (form.kind === "bytes") return 0;
  if (form.kind !== "integer") return undefined;
  const isPlain = form.leftFactors.length === 0 && form.rightFactors.length === 0;
  return isPlain ? form.words : undefined;
}

/** A column as a key of so many words; undefined where its values are others. */
export function keyOf(
  { values, validity, dictionary }: TableColumn,
  words: number,
): DeviceKeyColumn | undefined {
  if (values === null || dictionary) return undefined;
  if (values.kind === "strings" && words === 0) {
    return { kind: "device bytes", offsets: values.offsets, bytes: values.bytes, validity };
  }
  if (values.kind !== "fixed" || values.width !== 4 * words) return undefined;
  return { kind: "device words", width: words, data: values.data, validity };
}
