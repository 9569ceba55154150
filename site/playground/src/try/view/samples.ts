/** The tables that come with the playground, whose they are, and what one may do with them. samples.mjs writes the files. */
import type { Spec } from "../protocol.js";

export interface Sample {
  /** File in samples/. */
  readonly file: string;
  readonly title: string;
  readonly origin: string;
}

const FLIGHTS_ORIGIN =
  "On-time performance data of the U.S. Bureau of Transportation Statistics, collected under 14 CFR Part 234; from the npm package vega-datasets.";

export const SAMPLES: readonly Sample[] = [
  {
    file: "flights-200k.parquet",
    title: "flights, 200,000 rows",
    origin: `Every 15th flight of flights-3m.parquet. ${FLIGHTS_ORIGIN}`,
  },
  { file: "flights-3m.parquet", title: "flights, 3 million rows (13 MB)", origin: FLIGHTS_ORIGIN },
  {
    file: "airports.csv",
    title: "airports, 3,376 rows",
    origin: "Airports of Data.gov, a work of the U.S. government; from the npm package vega-datasets.",
  },
];

/** Something to begin with: tables and what to do with them. */
export interface Preset {
  readonly title: string;
  readonly left: string;
  readonly right?: string;
  readonly spec: Spec;
}

export const PRESETS: readonly Preset[] = [
  {
    title: "Join flights with their airports",
    left: "flights-3m.parquet",
    right: "airports.csv",
    spec: { kind: "join", how: "inner", on: [["origin", "iata"]] },
  },
  {
    title: "Mean delay by airport",
    left: "flights-3m.parquet",
    spec: {
      kind: "group",
      by: ["origin"],
      aggregates: [
        { name: "flights", fn: "count" },
        { name: "mean delay", fn: "mean", column: "delay" },
        { name: "longest", fn: "max", column: "distance" },
      ],
    },
  },
  {
    title: "Distinct routes",
    left: "flights-3m.parquet",
    spec: { kind: "distinct", on: ["origin", "destination"] },
  },
];

export function sampleUrl(file: string): string {
  return new URL(`samples/${file}`, document.baseURI).href;
}
