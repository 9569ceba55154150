/**
 * Small reading calls that wait for their turn together go to the engine as one batch: a call that was made right after another of
 * its kind joins it. Nothing between them changes the table, so each is answered as if it had come alone.
 */
import { allocate, type ScalarArrays, type ScalarType, scalarTypeOf } from "../engine/scalars.js";

/** Keys of one batch at most: more are worth a call of their own. */
export const MOST_KEYS = 2 ** 16;

type Column = ScalarArrays[ScalarType];
/** Results: each a column, or of a composite type a list of columns. */
type Columns = readonly (Column | readonly Column[])[];

/** Calls of one kind that are made as one. */
export class JoinedCalls<K extends ScalarType> {
  readonly #parts: { readonly keys: ScalarArrays[K]; readonly first: number; readonly length: number }[] = [];
  #length = 0;
  /** Keys that were detached before the batch's turn. */
  readonly #gone = new Set<ScalarArrays[K]>();
  /** What the batch answers: columns as long as all keys together. */
  answer!: Promise<Columns>;

  /** @param kind the operation and its arguments but for the keys */
  constructor(private readonly kind: readonly unknown[]) {}

  /** Whether calls of such a kind may join. −0 and 0 are two arguments. */
  isOf(kind: readonly unknown[]): boolean {
    return kind.length === this.kind.length && kind.every((part, i) => Object.is(part, this.kind[i]));
  }

  /** Whether so many keys more may join. */
  hasRoom({ length }: { readonly length: number }): boolean {
    return this.#length + length <= MOST_KEYS;
  }

  /** Adds a call. What it answers are its own columns. @throws what `detached` makes when its keys were gone at its turn */
  async add(keys: ScalarArrays[K], detached: () => Error): Promise<Columns> {
    const { length } = keys;
    const first = this.#length;
    this.#parts.push({ keys, first, length });
    this.#length += length;
    const columns = await this.answer;
    if (this.#gone.has(keys)) throw detached();
    if (this.#parts.length === 1) return columns;
    const part = (column: Column): Column => column.slice(first, first + length);
    return columns.map((column) => (ArrayBuffer.isView(column) ? part(column) : column.map(part)));
  }

  /** The keys of all calls, at the batch's turn. */
  takeKeys(): ScalarArrays[K] {
    const [{ keys, length }] = this.#parts;
    if (this.#parts.length === 1 && keys.length === length) return keys;
    const all = allocate(scalarTypeOf(keys) as K, this.#length);
    for (const { keys, first, length } of this.#parts) {
      if (keys.length === length) all.set(keys as never, first);
      else this.#gone.add(keys);
    }
    return all;
  }
}
