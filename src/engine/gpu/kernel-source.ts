/**
 * What a kernel is before it is compiled: its parameters, and fragments with the bindings and constants that each uses.
 * Names, types and order are said once, here; the texts of fragments are the runtime's, which knows them by name.
 */

/** A storage buffer as a kernel sees it: whether it writes it, and the type of its elements. */
export interface Binding {
  readonly access: "read" | "read_write";
  readonly type: string;
}

export const read = (type = "array<u32>"): Binding => ({ access: "read", type });
export const readWrite = (type = "array<u32>"): Binding => ({ access: "read_write", type });

/** A piece of a kernel, with the bindings and constants that it uses and no other fragment has declared. */
export interface Fragment<B extends string = string, C extends string = string> {
  /** Of its text; empty where it only declares. */
  readonly name: string;
  readonly bindings: { readonly [N in B]?: Binding };
  /** Constants to which `compile` gives values. */
  readonly constants: readonly C[];
  /** Constants that are the same for all kernels with this fragment: u32, bool, or an array of u32. */
  readonly values: { readonly [name: string]: number | boolean | readonly number[] };
  /** Atomic words by name, which make up the type that a binding has. */
  readonly counters?: { readonly type: string; readonly names: readonly string[] } | undefined;
}

export function fragment<const B extends string = never, const C extends string = never>(
  name: string,
  uses: {
    readonly bindings?: { readonly [N in B]?: Binding };
    readonly constants?: readonly C[];
    readonly values?: Fragment["values"];
    readonly counters?: Fragment["counters"];
  } = {},
): Fragment<B, C> {
  const { bindings = {}, constants = [], values = {}, counters } = uses;
  return { name, bindings, constants, values, counters };
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
