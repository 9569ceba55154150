/**
 * What the benchmark join joins. Left row i has a = i and key number i, or in a share of rows (`skew`) key number 0. Right row j has
 * b = j', where j' are the numbers of right rows in another order, and key number floor(j' / multiplicity) of those that the left has in
 * the wanted share (`selectivity`), others beyond. So every row that comes out can be checked by its a and its b.
 */
import { type Column, type Table, tableFromArrays } from "@uwdata/flechette";
import { EngineError } from "../src/index.js";
import { mix } from "./mix.js";

/** What one point joins. Where the left has one key often, selectivity and multiplicity are 1. */
export interface Point {
  readonly key: "u32" | "i64";
  readonly rows: number;
  /** Share of left rows that have a partner. */
  readonly selectivity: number;
  /** Right rows of a key. */
  readonly multiplicity: number;
  /** Share of left rows that have one key. */
  readonly skew: number;
  readonly arrow: boolean;
}

/** Both sides, and how many rows come out. */
export interface Sides {
  readonly left: Table;
  readonly right: Table;
  readonly expected: number;
}

/** Key numbers of left and right rows, by a and b. */
function numbersOf({ rows, selectivity, multiplicity, skew }: Point) {
  const keys = Math.ceil(rows / multiplicity);
  const shift = keys - Math.max(1, Math.round(Math.min(keys, rows) * selectivity));
  return {
    ofLeft: (a: number) => (mix(a) < skew * 2 ** 32 ? 0 : a),
    ofRight: (b: number) => {
      const number = Math.floor(b / multiplicity);
      return number < shift ? rows + number : number - shift;
    },
  };
}

export function sidesOf(point: Point): Sides {
  const { key, rows } = point;
  const { ofLeft, ofRight } = numbersOf(point);
  const a = numbersTo(rows);
  const b = shuffled(rows);
  const columnOf = (numberOf: (row: number) => number) => {
    if (key === "u32") return a.map((row) => mix(numberOf(row)));
    const words = new Uint32Array(2 * rows);
    for (let row = 0; row < rows; row++) {
      words[2 * row] = mix(numberOf(row));
      words[2 * row + 1] = numberOf(row);
    }
    return new BigInt64Array(words.buffer);
  };
  let expected = 0;
  for (let row = 0; row < rows; row++) if (ofRight(row) < rows) expected++;
  return {
    left: tableFromArrays({ key: columnOf(ofLeft), a }),
    right: tableFromArrays({ key: columnOf((row) => ofRight(b[row])), b }),
    expected,
  };
}

function numbersTo(rows: number): Uint32Array {
  const numbers = new Uint32Array(rows);
  for (let i = 0; i < rows; i++) numbers[i] = i;
  return numbers;
}

/** The numbers below `rows` in an order without a pattern. */
function shuffled(rows: number): Uint32Array {
  const numbers = numbersTo(rows);
  for (let i = rows - 1; i > 0; i--) {
    const j = mix(i) % (i + 1);
    [numbers[i], numbers[j]] = [numbers[j], numbers[i]];
  }
  return numbers;
}

/** A joined table's columns, in pieces of the same lengths. */
export function piecesOf(joined: Table): [a: Uint32Array, b: Uint32Array][] {
  const [a, b] = ["a", "b"].map((name) => (joined.getChild(name) as Column<number>).data);
  return a.map(({ values }, batch) => [values, b[batch].values] as [Uint32Array, Uint32Array]);
}

/**
 * @param by who joined
 * @throws EngineError unless every row joins a left with a right row of its key, and no such pair comes twice
 */
export function checkRows(
  pieces: readonly (readonly [a: ArrayLike<number>, b: ArrayLike<number>])[],
  point: Point,
  expected: number,
  by: string,
): void {
  const { ofLeft, ofRight } = numbersOf(point);
  // a pair is told by the row of the side that has a key once
  const seen = new Uint8Array(point.rows);
  let at = 0;
  for (const [a, b] of pieces) {
    for (let i = 0; i < a.length; i++, at++) {
      const once = point.skew > 0 ? a[i] : b[i];
      if (ofLeft(a[i]) !== ofRight(b[i]) || seen[once]++ > 0) {
        throw new EngineError(`join: row ${at} joins left row ${a[i]} with right row ${b[i]}, ${by}.`);
      }
    }
  }
  if (at !== expected) throw new EngineError(`join: ${at} rows in place of ${expected}, ${by}.`);
}
