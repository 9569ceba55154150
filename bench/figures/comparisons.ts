/** Reports whose rows are contestants beside each other: joins, sketches, words, ids, hash maps of C++, one very large table. Bars. */
import type { BarGroup, BarPanel, Figure } from "../chart/figure.js";
import type { BenchRow, StoredReport } from "../report.js";
import {
  contender,
  distinct,
  footerOf,
  groupBy,
  inMillions,
  numberIn,
  parameter,
  publishedBars,
  sizeText,
  textIn,
} from "./parts.js";

/** A bar a row, named by the row, in a group for each value of a column. */
function groupsBy(
  rows: readonly BenchRow[],
  by: string,
  column: string,
  nameOf: (row: BenchRow) => string,
): BarGroup[] {
  return [...groupBy(rows, (row) => textIn(row, by))].map(([label, of]) => ({
    label,
    bars: of
      .filter((row) => Number.isFinite(numberIn(row, column)))
      .map((row) => ({ name: nameOf(row), origin: "measured" as const, value: numberIn(row, column) })),
  }));
}

const bars = (title: string, label: string, groups: BarGroup[]): BarPanel => ({
  kind: "bars",
  title,
  label,
  groups,
});

const threads = (row: BenchRow) =>
  numberIn(row, "threads") === 1 ? "1 thread" : `${textIn(row, "threads")} threads`;

/** One panel a way, a group for each type and size of the keys. */
export function joinFigure(report: StoredReport): Figure {
  const labelOf = (row: BenchRow) => {
    const size = sizeText(numberIn(row, "rows"));
    const varied = ["selectivity", "multiplicity"].filter((name) => row[name] !== 1);
    if (numberIn(row, "skew") > 0) varied.push("skew");
    const also = varied.map((name) => `, ${name} ${textIn(row, name)}`).join("");
    return `${size} × ${size} rows, ${textIn(row, "key")} keys${also}`;
  };
  const groupOf = (label: string, rows: readonly BenchRow[]): BarGroup => {
    const [row] = rows;
    const [way, key, size] = [textIn(row, "way"), textIn(row, "key"), numberIn(row, "rows")];
    const others = [`${way}, ${key}`, `${way}, ${key}, row pairs`].flatMap((operation) =>
      publishedBars(report, operation, undefined, size),
    );
    const bars = rows.map((each) => ({
      name: textIn(each, "by") || "warpmap",
      origin: "measured" as const,
      value: numberIn(each, "ms"),
    }));
    return { label, bars: [...bars, ...others] };
  };
  return {
    title: "Joins of two tables",
    subtitle: `Time of an ${textIn(report.parameters, "how")} join, from the call to the complete result. Device to device: tables and result in the device's memory.`,
    panels: distinct(report.rows, "way").map((way) =>
      bars(
        way,
        "ms",
        [
          ...groupBy(
            report.rows.filter((row) => row.way === way),
            labelOf,
          ),
        ].map(([label, rows]) => groupOf(label, rows)),
      ),
    ),
    footer: footerOf(report),
  };
}

/** One panel a table, a group for each number of keys, a bar for each way or contestant. */
export function groupFigure(report: StoredReport): Figure {
  const skewOf = (row: BenchRow) => (numberIn(row, "skew") > 0 ? `, skew ${textIn(row, "skew")}` : "");
  const labelled = report.rows.map((row) => ({
    ...row,
    keys: `${numberIn(row, "groups").toLocaleString("en")} groups${skewOf(row)}`,
  }));
  return {
    title: "Group-bys",
    subtitle:
      "Rows counted and a column added up by key. Device to device: tables and result in the device's memory.",
    panels: distinct(report.rows, "table").map((table) => {
      const rows = labelled.filter((row) => textIn(row, "table") === table);
      const size = sizeText(numberIn(rows[0], "rows"));
      return bars(
        `${table}, ${size} rows`,
        "ms",
        groupsBy(rows, "keys", "ms", (row) => textIn(row, "way")),
      );
    }),
    footer: footerOf(report),
  };
}

export function joinVsDuckdbFigure(report: StoredReport): Figure {
  return {
    title: "Joins beside DuckDB",
    subtitle: `${parameter(report, "flights rows").toLocaleString("en")} flights with their airports on a string key, and two columns of 2²² integers; what each hands back is named.`,
    panels: distinct(report.rows, "join").map((join) => {
      const rows = report.rows
        .filter((row) => row.join === join)
        .map((row) => ({ ...row, threads: threads(row) }));
      const nameOf = (row: BenchRow) => `${textIn(row, "by")}, ${textIn(row, "outcome")}`;
      return bars(join, "ms", groupsBy(rows, "threads", "ms", nameOf));
    }),
    footer: footerOf(report),
  };
}

export function sketchesFigure(report: StoredReport): Figure {
  const groupOf = (row: BenchRow): BarGroup => {
    const mebibytes = numberIn(row, "filter MiB");
    const isFilter = Number.isFinite(mebibytes);
    const size = mebibytes % 1024 === 0 ? `${mebibytes / 1024} GiB` : `${mebibytes} MiB`;
    return {
      label: isFilter ? size : `precision ${textIn(row, "precision")}`,
      bars: [
        { name: contender(textIn(row, "engine")), origin: "measured", value: numberIn(row, "G/s") },
        // a HyperLogLog's size hardly matters: the published figure is for all of them
        ...publishedBars(report, `${textIn(row, "operation")}, ${isFilter ? size : "4 to 128 KiB"}`),
      ],
    };
  };
  return {
    title: "Bloom filters and HyperLogLogs",
    subtitle: `${sizeText(parameter(report, "keys"))} keys of u32 in the device's memory.`,
    panels: distinct(report.rows, "operation").map((operation) =>
      inMillions(
        bars(operation, "G/s", report.rows.filter((row) => row.operation === operation).map(groupOf)),
        "G/s",
      ),
    ),
    footer: footerOf(report),
  };
}

export function wordsFigure(report: StoredReport): Figure {
  const [words, different] = ["words", "different words"].map((name) =>
    parameter(report, name).toLocaleString("en"),
  );
  return {
    title: "Counting words by string keys",
    subtitle: `${words} words of a generated text, ${different} different ones.`,
    panels: [bars("Words", "million words a second", groupsBy(report.rows, "operation", "M words/s", on))],
    footer: footerOf(report),
  };
}

export function idsFigure(report: StoredReport): Figure {
  return {
    title: "Looking up 64-bit ids",
    subtitle: `${parameter(report, "ids").toLocaleString("en")} u64 ids in typed arrays.`,
    panels: [bars("Ids", "million ids a second", groupsBy(report.rows, "operation", "M ids/s", on))],
    footer: footerOf(report),
  };
}

const on = (row: BenchRow) => {
  const name = textIn(row, "on");
  return name.startsWith("JS Map") ? name : contender(name);
};

/** The parts of warpmap's time, in the order in which they come. */
const FILE_PARTS = ["reading", "working", "moving", "writing"] as const;

export function filesFigure(report: StoredReport): Figure {
  if ("line items" in report.parameters) return processesFigure(report);
  const isOwn = (row: BenchRow) => Number.isFinite(numberIn(row, "reading ms"));
  const nameOf = (row: BenchRow) => (isOwn(row) ? contender(textIn(row, "by")) : textIn(row, "by"));
  const familyOf = (row: BenchRow) => (isOwn(row) ? "warpmap" : textIn(row, "by"));
  const tasks = [...groupBy(report.rows, (row) => textIn(row, "task"))];
  const shares = report.rows.filter(isOwn).map((row): BarGroup => {
    const parts = FILE_PARTS.map((part) => ({ part, ms: numberIn(row, `${part} ms`) }));
    const there = parts.filter(({ ms }) => Number.isFinite(ms));
    const whole = there.reduce((sum, { ms }) => sum + ms, 0);
    return {
      label: textIn(row, "task"),
      bars: there.map(({ part, ms }) => ({ name: part, origin: "measured", value: (100 * ms) / whole })),
    };
  });
  return {
    title: "From files to a file",
    subtitle: `${sizeText(parameter(report, "flights"))} flights, ${textIn(report.parameters, "threads")} threads, from the call until the file has its name. Working: keys are matched, groups counted. Moving: the columns of the result are gathered.`,
    panels: [
      bars(
        "Time",
        "ms",
        tasks.map(([label, rows]) => ({
          label,
          bars: rows.map((row) => ({
            name: nameOf(row),
            origin: "measured",
            value: numberIn(row, "ms"),
            family: familyOf(row),
          })),
        })),
      ),
      bars("What warpmap's time goes to", "% of its parts", shares),
    ],
    footer: footerOf(report),
  };
}

function processesFigure(report: StoredReport): Figure {
  const tasks = [...groupBy(report.rows, (row) => textIn(row, "task"))];
  const panel = (title: string, unit: string, column: string) => {
    const groups = tasks.map(([label, rows]): BarGroup => {
      const own = rows.map((row) => ({ name: textIn(row, "by"), value: numberIn(row, column) }));
      return { label, bars: own.map((bar) => ({ ...bar, origin: "measured", family: bar.name })) };
    });
    return bars(title, unit, groups);
  };
  return {
    title: "From files to a file, whole processes",
    subtitle: `${sizeText(parameter(report, "line items"))} line items, ${textIn(report.parameters, "threads")} threads, from the start of a process to its end.`,
    panels: [panel("Time", "ms", "ms"), panel("Memory at most", "MB", "peak MB")],
    footer: footerOf(report),
  };
}

export function peersFigure(report: StoredReport): Figure {
  const nameOf = (row: BenchRow) =>
    textIn(row, "by") === "JS Map" ? "JS Map" : `${textIn(row, "by")}, ${threads(row)}`;
  return {
    title: "Beside hash maps of C++",
    subtitle: "Unique random u32 keys and values, contestants in turn on the same cores.",
    panels: [...groupBy(report.rows, (row) => numberIn(row, "size"))].map(([size, rows]) =>
      bars(
        `${sizeText(size)} keys`,
        "million keys a second",
        groupsBy(rows, "operation", "M keys/s", nameOf),
      ),
    ),
    footer: footerOf(report),
  };
}

export function largeTableFigure(report: StoredReport): Figure {
  const slots = parameter(report, "slots");
  return {
    title: "A table larger than one binding",
    subtitle: `${sizeText(slots)} slots of u32 to u32, all keys and results checked.`,
    panels: [
      inMillions(
        bars(`${sizeText(slots)} slots`, "GB/s", groupsBy(report.rows, "operation", "GB/s", on)),
        "GB/s",
      ),
    ],
    footer: footerOf(report),
  };
}
