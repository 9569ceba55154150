/**
 * A kernel's module: a struct and a uniform for the parameters, a line for each binding, a `const` for each constant,
 * the workgroup's place (grid.wgsl), and the texts of its fragments. Fragments of tables bring their texts with them
 * (`wgsl`), those that GPU engines share are named (texts.ts).
 *
 * Constants are `const`, not `override`: one WebGPU implementation gives workgroup arrays whose length is an override
 * length 0, and arrays of constant length stay in registers.
 */
import { EngineError } from "../../../errors.js";
import {
  type Binding,
  bindingsOf,
  type Constants,
  type Fragment,
  type KernelSource,
} from "../../gpu/kernel-source.js";
import grid from "./grid.wgsl";
import type { Text } from "./texts.js";

interface WgslFragment<B extends string = string, C extends string = string> extends Fragment<B, C>, Text {}

export function wgsl<const B extends string = never, const C extends string = never>(
  code: string,
  uses: {
    readonly bindings?: { readonly [N in B]?: Binding };
    readonly constants?: readonly C[];
    readonly enables?: readonly string[];
  } = {},
): Fragment<B, C> {
  const { bindings = {}, constants = [], enables = [] } = uses;
  const made: WgslFragment<B, C> = { name: "", code, bindings, constants, enables, values: {} };
  return made;
}

/**
 * The module's text.
 * @param textOf a named fragment's
 * @throws EngineError when a constant has no value
 */
export function moduleCode(source: KernelSource, values: Constants, textOf: (name: string) => Text): string {
  const { label, params, fragments } = source;
  const names = new Set(fragments.flatMap(({ constants }) => constants));
  for (const name of names) {
    if (values[name] === undefined) throw new EngineError(`The kernel ${label} has no value for ${name}.`);
  }
  const first = params.length > 0 ? 1 : 0;
  const lines = [...bindingsOf(source)].map(([name, { access, type }], i) =>
    bindingLine(0, first + i, access, name, type),
  );
  const texts = fragments.map((each) => ("code" in each ? (each as WgslFragment) : textOf(each.name)));
  return [
    ...new Set(texts.flatMap(({ enables = [] }) => enables.map((name) => `enable ${name};`))),
    constantLines(Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))),
    ...(first === 1 ? [paramsCode(params)] : []),
    grid,
    ...lines,
    ...new Set(fragments.map(declarationsOf)),
    ...new Set(texts.map(({ code }) => code)),
  ].join("\n");
}

function declarationsOf({ values, counters }: Fragment): string {
  const struct =
    counters &&
    `struct ${counters.type} { ${counters.names.map((name) => `${name}: atomic<u32>`).join(", ")} }`;
  return [constantLines(values), struct].filter(Boolean).join("\n");
}

/** A line for each constant. */
export function constantLines(values: Fragment["values"]): string {
  return Object.entries(values)
    .map(([name, value]) => {
      if (typeof value === "boolean") return `const ${name}: bool = ${value};`;
      if (typeof value === "number") return `const ${name}: u32 = ${value >>> 0}u;`;
      return `const ${name} = array<u32, ${value.length}>(${value.map((each) => `${each >>> 0}u`).join(", ")});`;
    })
    .join("\n");
}

export function bindingLine(
  group: number,
  binding: number,
  access: Binding["access"],
  name: string,
  type: string,
): string {
  return `@group(${group}) @binding(${binding}) var<storage, ${access}> ${name}: ${type};`;
}

function paramsCode(params: readonly string[]): string {
  return `struct Params { ${params.map((name) => `${name}: u32`).join(", ")} }
@group(0) @binding(0) var<uniform> params: Params;`;
}
