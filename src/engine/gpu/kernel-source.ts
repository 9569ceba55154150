/**
 * What a kernel is before it is compiled: WGSL fragments, and next to each fragment the bindings and constants that it uses. The
 * module's text is made from that: a struct and a uniform for the parameters, a line for each binding, a `const` for each constant.
 * So names, types and order are said once, here in TypeScript, and record() takes bindings and parameters by name.
 *
 * Constants are `const`, not `override`: one WebGPU implementation gives workgroup arrays whose length is an override length 0, and
 * arrays of constant length stay in registers.
 */
import { EngineError } from "../../errors.js";

/** A storage buffer as a kernel sees it: whether it writes it, and the WGSL type. */
export interface Binding {
  readonly access: "read" | "read_write";
  readonly type: string;
}

/** A binding that a kernel only reads. */
export const read = (type = "array<u32>"): Binding => ({ access: "read", type });
/** A binding that a kernel writes. */
export const readWrite = (type = "array<u32>"): Binding => ({ access: "read_write", type });

/** A piece of WGSL, with the bindings and constants that it uses and no other fragment has declared. */
export interface Fragment<B extends string = string, C extends string = string> {
  readonly code: string;
  readonly bindings: { readonly [N in B]?: Binding };
  readonly constants: readonly C[];
  /** Extensions that it needs. */
  readonly enables: readonly string[];
}

/** Makes a fragment. */
export function fragment<const B extends string = never, const C extends string = never>(
  code: string,
  uses: {
    readonly bindings?: { readonly [N in B]?: Binding };
    readonly constants?: readonly C[];
    readonly enables?: readonly string[];
  } = {},
): Fragment<B, C> {
  const { bindings = {}, constants = [], enables = [] } = uses;
  return { code, bindings, constants, enables };
}

/** A kernel: parameters P, bindings B, constants C, by name. */
export interface KernelSource<
  P extends string = string,
  B extends string = string,
  C extends string = string,
> {
  /** Name in errors and in the phases of a plan. */
  readonly label: string;
  /** Fields of the uniform, each a u32; none for a kernel without one. */
  readonly params: readonly P[];
  /** In any order: WGSL declarations may come after their use. */
  readonly fragments: readonly Fragment<B, C>[];
}

/** Makes a kernel of fragments. */
export function kernelSource<const P extends string, B extends string, C extends string>(
  label: string,
  params: readonly P[],
  fragments: readonly Fragment<B, C>[],
): KernelSource<P, B, C> {
  return { label, params, fragments };
}

/** Values of constants: u32 or bool. */
export type Constants<C extends string = string> = { readonly [N in C]: number | boolean };

/** All bindings of a kernel by name, in the order of their numbers. A uniform, if there is one, is binding 0. */
export function bindingsOf({ fragments }: KernelSource): ReadonlyMap<string, Binding> {
  return new Map(fragments.flatMap(({ bindings }) => Object.entries(bindings as Record<string, Binding>)));
}

/** The module's text. @throws EngineError when a constant has no value */
export function moduleCode(source: KernelSource, values: Constants): string {
  const { label, params, fragments } = source;
  const names = new Set(fragments.flatMap(({ constants }) => constants));
  for (const name of names) {
    if (values[name] === undefined) throw new EngineError(`The kernel ${label} has no value for ${name}.`);
  }
  const first = params.length > 0 ? 1 : 0;
  const lines = [...bindingsOf(source)].map(([name, { access, type }], i) =>
    bindingLine(0, first + i, access, name, type),
  );
  return [
    ...new Set(fragments.flatMap(({ enables }) => enables.map((name) => `enable ${name};`))),
    constantLines(Object.fromEntries(Object.entries(values).filter(([name]) => names.has(name)))),
    ...(first === 1 ? [paramsCode(params)] : []),
    ...lines,
    ...new Set(fragments.map(({ code }) => code)),
  ].join("\n");
}

/** A line for each constant. */
export function constantLines(values: Constants): string {
  return Object.entries(values)
    .map(([name, value]) =>
      typeof value === "boolean"
        ? `const ${name}: bool = ${value};`
        : `const ${name}: u32 = ${value >>> 0}u;`,
    )
    .join("\n");
}

/** The declaration of a storage binding. */
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
