/** The structs that kernels are called with: C++ and TypeScript have the same fields in the same order. */
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { bindingsOf, type KernelSource } from "../../../src/engine/kit.js";
import { argumentsName } from "../src/runtime/function-name.js";
import { groupKernels, ownerKernels } from "../src/several/owner-kernels.js";
import { markChosen, numberRows, type Operation, operations, tableKernel } from "../src/table/kernels.js";
import { partitionKernels } from "../src/table/partitions.js";

const header = readFileSync(new URL("../kernels/arguments.h", import.meta.url), "utf8");
const macros = new Map(
  Array.from(header.matchAll(/#define (\w+) *\\\n((?: .*\\\n)* .*)/g), ([, name, text]) => [name, text]),
);

/** The names of a struct's fields. */
function fieldsOf(struct: string): string[] {
  const [, same] = new RegExp(`using ${struct}_arguments = (\\w+)_arguments;`).exec(header) ?? [];
  if (same !== undefined) return fieldsOf(same);
  const [, body] = new RegExp(`struct ${struct}_arguments \\{([^}]*)\\}`).exec(header) ?? [];
  if (body === undefined) return [];
  const text = body.replace(/\bWARPMAP_\w+/g, (macro) => macros.get(macro) ?? "").replace(/[\\\s]+/g, " ");
  return text.split(";").flatMap((line) =>
    line
      .replace(/^\s*(Range|uint32_t)\s/, "")
      .split(",")
      .flatMap((name) => (name.trim() ? [name.trim()] : [])),
  );
}

function declaredBy(source: KernelSource): string[] {
  const constants = new Set(source.fragments.flatMap((fragment) => fragment.constants));
  return [...bindingsOf(source).keys(), ...constants, ...source.params];
}

it.each(Object.keys(operations) as Operation[])("%s", (operation) => {
  expect(fieldsOf(operation)).toEqual(declaredBy(tableKernel(operation, "1_1")));
});

const { count, countOwned, offsets, scatter, scatterOwned, gather } = partitionKernels;

const owners = [...Object.values<KernelSource>(ownerKernels), ...Object.values<KernelSource>(groupKernels)];

const partitions = [count(1), countOwned(1), offsets, scatter(1, 2), scatterOwned(1), gather(2)];

it.each([numberRows, markChosen, ...partitions, ...owners])("$label", (source) => {
  const struct = argumentsName(source).replace(/(_\d)+$/, "");
  expect(fieldsOf(struct)).toEqual(declaredBy(source));
});
