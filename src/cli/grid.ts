/**
 * Text in columns, fitted to a width: column names, what they hold, and rows. Widths are those of the terminal, where a
 * Chinese character or an emoji takes two cells. Text that does not fit ends in "…"; numbers and dates are never cut,
 * columns that have no room at all are left out and named.
 */
import { styleText } from "node:util";
import stringWidth from "string-width";
import { visible } from "../io/visible.js";

/** One column of a grid. */
export interface GridColumn {
  readonly name: string;
  /** A second line under the name: the type, the unit. */
  readonly note?: string;
  /** Null is shown as the word "null". */
  readonly cells: readonly (string | null)[];
  /** Flush right, and never cut. */
  readonly numeric?: boolean;
  /** Flush left, and never cut. */
  readonly whole?: boolean;
}

export interface GridOptions {
  /** Terminal cells to a line. Infinity: as wide as it needs to be. */
  readonly width: number;
  readonly styled: boolean;
}

/** What is printed, and the names of the columns that had no room. */
export interface Grid {
  readonly text: string;
  readonly omitted: readonly string[];
}

const GAP = "  ";
/** Text wider than this is cut even where there is room. */
const MAX_TEXT = 40;
/** Text is not cut to less than this to make room, nor names to less than MIN_NAME; columns are left out first. */
const MIN_TEXT = 12;
const MIN_NAME = 8;

export function renderGrid(columns: readonly GridColumn[], { width, styled }: GridOptions): Grid {
  const safe = columns.map((column) => ({
    ...column,
    name: visible(column.name),
    note: column.note === undefined ? undefined : visible(column.note),
    cells: column.cells.map((cell) => cell && visible(cell)),
  }));
  const { widths, shown } = layOut(safe, width);
  const kept = safe.slice(0, shown);
  const style = (format: "bold" | "dim", text: string) =>
    styled ? styleText(format, text, { validateStream: false }) : text;
  const line = (cellOf: (column: GridColumn, width: number) => string) =>
    kept
      .map((column, i) => cellOf(column, widths[i]))
      .join(GAP)
      .trimEnd();

  const lines = [line((column, cells) => style("bold", place(column.name, cells, column.numeric)))];
  if (kept.some(({ note }) => note !== undefined)) {
    lines.push(line((column, cells) => style("dim", place(column.note ?? "", cells, column.numeric))));
  }
  lines.push(line((_, cells) => style("dim", "─".repeat(cells))));
  const rows = Math.max(0, ...kept.map(({ cells }) => cells.length));
  for (let row = 0; row < rows; row++) {
    lines.push(
      line(({ cells, numeric }, width) => {
        const cell = cells[row];
        return cell === null ? style("dim", place("null", width, numeric)) : place(cell, width, numeric);
      }),
    );
  }
  return { text: `${lines.join("\n")}\n`, omitted: safe.slice(shown).map(({ name }) => name) };
}

/** How wide each column is, and how many of them there is room for. At least one is shown. */
function layOut(columns: readonly GridColumn[], width: number): { widths: number[]; shown: number } {
  const wanted = columns.map(wantedWidth);
  const least = columns.map((column, i) => Math.min(wanted[i], leastWidth(column)));
  let shown = columns.length;
  while (shown > 1 && lineWidth(least.slice(0, shown)) > width) shown--;
  const widths = wanted.slice(0, shown);
  let excess = lineWidth(widths) - width;
  while (excess-- > 0) {
    let widest = -1;
    for (let i = 0; i < shown; i++) {
      if (widths[i] > least[i] && (widest < 0 || widths[i] > widths[widest])) widest = i;
    }
    if (widest < 0) break;
    widths[widest]--;
  }
  return { widths, shown };
}

function lineWidth(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(0, widths.length - 1);
}

function wantedWidth(column: GridColumn): number {
  const widest = Math.max(stringWidth(column.name), stringWidth(column.note ?? ""), cellsWidth(column));
  return column.numeric || column.whole ? widest : Math.min(widest, MAX_TEXT);
}

/** Names and notes may be cut, and text; numbers, dates and the like may not. */
function leastWidth(column: GridColumn): number {
  if (!column.numeric && !column.whole) return MIN_TEXT;
  return Math.max(cellsWidth(column), Math.min(stringWidth(column.name), MIN_NAME));
}

function cellsWidth({ cells }: GridColumn): number {
  return cells.reduce((widest, cell) => Math.max(widest, stringWidth(cell ?? "null")), 0);
}

/** Text in exactly `width` cells: padded, or cut with "…". */
function place(text: string, width: number, right = false): string {
  const own = stringWidth(text);
  if (own > width) return place(`${head(text, width - 1)}…`, width, right);
  const padding = " ".repeat(width - own);
  return right ? padding + text : text + padding;
}

const CHARACTERS = new Intl.Segmenter("en", { granularity: "grapheme" });

/** The longest start of `text` that fits in `width` cells. */
function head(text: string, width: number): string {
  let end = 0;
  let used = 0;
  for (const { segment } of CHARACTERS.segment(text)) {
    used += stringWidth(segment);
    if (used > width) break;
    end += segment.length;
  }
  return text.slice(0, end);
}
