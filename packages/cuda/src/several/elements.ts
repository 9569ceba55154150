/** The columns of a batch's elements, and of results. */
import {
  type ColumnInput,
  type ColumnOutput,
  columnsOf,
  DeviceArray,
  elementsOf,
  type Input,
  type KeyType,
  type Output,
  type Scalar,
  scalarsOf,
  type ValueType,
} from "warpmap/engine";
import type { Exchange } from "./exchange.js";

export const areThere = (columns: readonly unknown[]): boolean =>
  columns.every((column) => !column || column instanceof DeviceArray);

export function destroyAll(arrays: readonly DeviceArray[]): void {
  for (const array of arrays) array.destroy();
}

/** Elements at each owner: a column, or of a composite a list of them. */
export async function delivered<T extends KeyType | ValueType>(
  exchange: Exchange,
  type: T,
  columns: readonly ColumnInput[],
): Promise<Input<T>[]> {
  const all: DeviceArray[][] = [];
  for (const [i, scalar] of scalarsOf<Scalar>(type).entries()) {
    all.push(await exchange.deliver(scalar, columns[i] as ColumnInput<Scalar>));
  }
  const ofOwner = (owner: number) => all.map((column) => column[owner]);
  return exchange.counts.map((_, owner) => elementsOf(type, ofOwner(owner)) as Input<T>);
}

/** The columns of elements, and what these are. */
export function typedColumns(elements: Input<KeyType>, type: KeyType | ValueType | null) {
  const types = scalarsOf<Scalar>(type);
  return inputsOf(elements).map((column, i) => ({ column, type: types[i] }));
}

export const inputsOf = (elements: Input<KeyType>): readonly ColumnInput[] =>
  columnsOf(elements as ColumnInput | readonly ColumnInput[]);
export const outputsOf = (elements: Output<ValueType> | null): readonly ColumnOutput[] =>
  columnsOf(elements as ColumnOutput | readonly ColumnOutput[] | null);
