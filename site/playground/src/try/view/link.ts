/**
 * Samples and choices in the address, so that a reload, a step back and a link bring them again. Lists are parameters that repeat, since
 * a column may have any name. What a link brings is anybody's: what is not known of it is left out.
 */
import {
  AGGREGATES,
  type AggregateFunction,
  type AggregateSpec,
  JOIN_KINDS,
  type JoinKind,
  type Side,
  type Spec,
} from "../protocol.js";
import { SAMPLES } from "./samples.js";

/** What an address holds of the view Try. */
export interface Linked {
  readonly samples: Partial<Record<Side, string>>;
  readonly spec: Spec | null;
  /** Whether the result was shown. */
  readonly run: boolean;
}

export function parametersOf({ samples, spec, run }: Linked): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const [side, file] of Object.entries(samples)) parameters.set(side, file);
  if (spec) {
    parameters.set("do", spec.kind);
    for (const [name, value] of choicesOf(spec)) parameters.append(name, value);
  }
  if (run) parameters.set("run", "1");
  return parameters;
}

function choicesOf(spec: Spec): [name: string, value: string][] {
  const all = (name: string, values: readonly string[]) =>
    values.map((value): [string, string] => [name, value]);
  switch (spec.kind) {
    case "join":
      return [
        ["how", spec.how],
        ...spec.on.flatMap(([left, right]): [string, string][] => [
          ["on", left],
          ["with", right],
        ]),
        ...all("select", spec.select ?? []),
      ];
    case "group":
      return [
        ...all("by", spec.by),
        ...spec.aggregates.flatMap(({ name, fn, column = "" }): [string, string][] => [
          ["compute", fn],
          ["of", column],
          ["as", name],
        ]),
      ];
    case "distinct":
      return all("on", spec.on);
  }
}

export function linkedOf(parameters: URLSearchParams): Linked {
  const samples: Partial<Record<Side, string>> = {};
  for (const side of ["left", "right"] as const) {
    const file = parameters.get(side);
    if (file !== null && SAMPLES.some((sample) => sample.file === file)) samples[side] = file;
  }
  return { samples, spec: specOf(parameters), run: parameters.has("run") };
}

function specOf(parameters: URLSearchParams): Spec | null {
  const all = (name: string) => parameters.getAll(name);
  switch (parameters.get("do")) {
    case "join": {
      const partners = all("with");
      const on = all("on").map((left, i) => [left, partners[i] ?? left] as const);
      const how = JOIN_KINDS.find((kind): kind is JoinKind => kind === parameters.get("how")) ?? "inner";
      const select = all("select");
      return { kind: "join", how, on, ...(select.length > 0 && { select }) };
    }
    case "group":
      return { kind: "group", by: all("by"), aggregates: aggregatesOf(all) };
    case "distinct":
      return { kind: "distinct", on: all("on") };
    default:
      return null;
  }
}

function aggregatesOf(all: (name: string) => string[]): AggregateSpec[] {
  const [columns, names] = [all("of"), all("as")];
  return all("compute").flatMap((asked, i) => {
    const fn = AGGREGATES.find((known): known is AggregateFunction => known === asked);
    if (!fn) return [];
    const column = columns[i] ?? "";
    return [{ name: names[i] ?? fn, fn, ...(column !== "" && { column }) }];
  });
}
