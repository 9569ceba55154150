/** Headers of kernels/ have the arguments of kernels that GPU engines share, as they are declared; `vitest -u` writes them. */
import { expect, it } from "vitest";
import { NO_NUMBER } from "../../../src/engine/dictionary.js";
import * as columns from "../../../src/engine/gpu/columns/gather-kernels.js";
import { keyRangeKernel, narrowKeysKernel } from "../../../src/engine/gpu/groups/key-kernels.js";
import {
  denseParams,
  listMembersKernel,
  numberGroupsKernel,
  numberRowsKernel,
  packBytesKernel,
  packWordsKernel,
  reduceParams,
  rowCounters,
  rowParams,
} from "../../../src/engine/gpu/groups/row-kernels.js";
import { scanKernels, scanParams } from "../../../src/engine/gpu/groups/scan.js";
import * as dense from "../../../src/engine/gpu/join/dense-kernels.js";
import * as join from "../../../src/engine/gpu/join/join-kernels.js";
import { bindingsOf, type Fragment, type KernelSource } from "../../../src/engine/gpu/kernel-source.js";
import * as lists from "../../../src/engine/gpu/lists/list-kernels.js";
import * as parts from "../../../src/engine/gpu/reduce/part-kernels.js";
import * as reduce from "../../../src/engine/gpu/reduce/reduce-kernels.js";
import * as sketches from "../../../src/engine/gpu/sketches/sketch-kernels.js";
import {
  dictionaryCounters,
  dictionaryKernels,
  dictionaryParams,
} from "../../../src/engine/gpu/strings/dictionary-kernels.js";
import { ENTRY } from "../../../src/engine/slot-format.js";
import { MOST_TAG } from "../../../src/engine/tags.js";
import * as valueLists from "../../../src/engine/value-lists.js";
import { argumentsName } from "../src/runtime/function-name.js";

const isSource = (value: unknown): value is KernelSource =>
  typeof value === "object" && value !== null && "label" in value && "fragments" in value;

/** The kernels that modules export, one by one or in records. */
function sourcesIn(...modules: object[]): KernelSource[] {
  return modules.flatMap((module) =>
    Object.values(module).flatMap((value: unknown) => {
      if (isSource(value)) return [value];
      return typeof value === "object" && value !== null ? Object.values(value).filter(isSource) : [];
    }),
  );
}

// batches are grouped by key where an engine partitions them (GpuHost.partitioning)
const { groupKeys, tallyGroups, resolveTargets, putGroups, ...onLists } = lists;
const { NO_LIST, GROWN, MISSING } = valueLists;

/** A header, what its kernels are told and count, and constants of their namespace. */
const headers = [
  {
    of: "rows",
    to: "row-arguments.h",
    control: ["RowControl", rowCounters.control],
    params: [
      ["RowParams", rowParams],
      ["ReduceParams", reduceParams],
      ["DenseParams", denseParams],
      ["ScanParams", scanParams],
    ],
    sources: sourcesIn(
      columns,
      { keyRangeKernel, narrowKeysKernel, ...scanKernels },
      [packWordsKernel, packBytesKernel, numberGroupsKernel, listMembersKernel, numberRowsKernel],
      dense,
      join,
      parts,
      reduce,
    ),
    constants: {},
  },
  {
    of: "lists",
    to: "list-arguments.h",
    control: ["ListControl", lists.listCounters.control],
    params: [["ListParams", lists.listParams]],
    sources: sourcesIn(onLists),
    constants: { NO_LIST, GROWN, MISSING },
  },
  {
    of: "strings",
    to: "string-arguments.h",
    control: ["StringControl", dictionaryCounters.control],
    params: [["StringParams", dictionaryParams]],
    sources: sourcesIn(dictionaryKernels),
    constants: { ENTRY, MOST_TAG, NO_NUMBER },
  },
  {
    of: "sketches",
    to: "sketch-arguments.h",
    control: null,
    params: [["SketchParams", sketches.sketchParams]],
    sources: sourcesIn(sketches),
    constants: {},
  },
] as const satisfies readonly {
  readonly control: readonly [name: string, counters: Fragment] | null;
  readonly params: readonly (readonly [name: string, fields: readonly string[]])[];
  readonly [other: string]: unknown;
}[];
type Header = (typeof headers)[number];

const struct = (name: string, fields: readonly string[]) =>
  `\nstruct ${name} {\n${fields.map((field) => `  ${field};\n`).join("")}};\n`;
const words = (names: Iterable<string>) => Array.from(names, (name) => `uint32_t ${name}`);

function structOf(source: KernelSource, { params }: Header): string {
  const bindings = Array.from(bindingsOf(source).keys(), (name) => `Range ${name}`);
  const constants = new Set(source.fragments.flatMap((fragment) => fragment.constants));
  const [told] = params.find(([, names]) => names === source.params) ?? [];
  const fields = [...bindings, ...words(constants), ...(told === undefined ? [] : [`${told} params`])];
  return struct(`${argumentsName(source)}_arguments`, fields);
}

function constantsOf({ of, constants }: Header): string {
  const lines = Object.entries(constants).map(([name, value]) => `constexpr uint32_t ${name} = ${value}u;\n`);
  return lines.length > 0 ? `\nnamespace warpmap::${of} {\n${lines.join("")}}\n` : "";
}

it.each(headers)("declares the arguments of kernels over $of", async (header) => {
  const { of, to, control, params, sources } = header;
  const [name, counted] = control ?? [];
  const text = [
    `// The arguments of kernels over ${of}${control ? ", and what they count" : ""}: made by test/shared-arguments.test.ts.\n#pragma once\n`,
    '#include "arguments.h"\n',
    constantsOf(header),
    name === undefined ? "" : struct(name, words(counted?.counters?.names ?? [])),
    ...params.map(([name, names]) => struct(name, words(names))),
    ...sources.map((source) => structOf(source, header)),
  ].join("");
  await expect(text).toMatchFileSnapshot(`../kernels/${to}`);
});
