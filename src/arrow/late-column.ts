/**
 * A column whose values are made when they are first read: of a file that is read batch by batch, columns that nobody
 * looks at are not decoded. Its type is known before; a column of text may turn out to be a dictionary of it.
 */
import { type Batch, Column, type DataType } from "@uwdata/flechette";

export class LateColumn extends Column<unknown> {
  #made: Column<unknown> | undefined;
  readonly #make: () => Column<unknown>;

  /** @param make the column with its values; called once, it may throw */
  constructor(type: DataType, length: number, make: () => Column<unknown>) {
    super([], type);
    this.#make = make;
    const column = () => {
      this.#made ??= this.#make();
      return this.#made;
    };
    Object.defineProperties(this, {
      length: { value: length },
      data: { get: (): readonly Batch<unknown>[] => column().data },
      nullCount: { get: () => column().nullCount },
      offsets: { get: () => column().offsets },
      at: { value: (index: number) => column().at(index) },
    });
  }

  /** Whether its values were read. */
  get isMade(): boolean {
    return this.#made !== undefined;
  }
}
