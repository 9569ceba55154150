/** Headers have the arguments of all shared kernels over rows and of sketches as declared; `vitest -u` writes them. */
import { expect, it } from "vitest";
import * as columns from "../../../src/engine/gpu/columns/gather-kernels.js";
import { keyRangeKernel, narrowKeysKernel } from "../../../src/engine/gpu/groups/key-kernels.js";
import {
  denseParams,
  GroupKernels,
  reduceParams,
  rowCounters,
  rowParams,
} from "../../../src/engine/gpu/groups/row-kernels.js";
import * as dense from "../../../src/engine/gpu/join/dense-kernels.js";
import * as join from "../../../src/engine/gpu/join/join-kernels.js";
import { bindingsOf, type KernelSource } from "../../../src/engine/gpu/kernel-source.js";
import * as parts from "../../../src/engine/gpu/reduce/part-kernels.js";
import * as reduce from "../../../src/engine/gpu/reduce/reduce-kernels.js";
import * as sketches from "../../../src/engine/gpu/sketches/sketch-kernels.js";
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

const PARAMS = new Map<readonly string[], string>([
  [rowParams, "RowParams"],
  [reduceParams, "ReduceParams"],
  [denseParams, "DenseParams"],
  [sketches.sketchParams, "SketchParams"],
]);

const struct = (name: string, fields: readonly string[]) =>
  `\nstruct ${name} {\n${fields.map((field) => `  ${field};\n`).join("")}};\n`;
const words = (names: Iterable<string>) => Array.from(names, (name) => `uint32_t ${name}`);

function structOf(source: KernelSource): string {
  const bindings = Array.from(bindingsOf(source).keys(), (name) => `Range ${name}`);
  const constants = new Set(source.fragments.flatMap((fragment) => fragment.constants));
  const params = source.params.length > 0 ? [`${PARAMS.get(source.params)} params`] : [];
  return struct(`${argumentsName(source)}_arguments`, [...bindings, ...words(constants), ...params]);
}

function paramsOf(sources: readonly KernelSource[]): string[] {
  const used = new Set(sources.map(({ params }) => params));
  return Array.from(PARAMS, ([names, name]) => (used.has(names) ? struct(name, words(names)) : ""));
}

it("declares the arguments of kernels over rows", async () => {
  const groups = new GroupKernels({});
  const sources = sourcesIn(
    columns,
    { keyRangeKernel, narrowKeysKernel },
    groups,
    dense,
    join,
    parts,
    reduce,
  );
  const header = [
    "// The arguments of kernels over rows, and what they count: made by test/row-arguments.test.ts.\n#pragma once\n",
    '#include "arguments.h"\n',
    struct("RowControl", words(rowCounters.control.counters?.names ?? [])),
    ...paramsOf(sources),
    ...sources.map(structOf),
  ].join("");
  await expect(header).toMatchFileSnapshot("../kernels/row-arguments.h");
});

it("declares the arguments of kernels of sketches", async () => {
  const sources = sourcesIn(sketches);
  const header = [
    "// The arguments of kernels of sketches: made by test/row-arguments.test.ts.\n#pragma once\n",
    '#include "arguments.h"\n',
    ...paramsOf(sources),
    ...sources.map(structOf),
  ].join("");
  await expect(header).toMatchFileSnapshot("../kernels/sketch-arguments.h");
});
