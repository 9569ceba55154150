/** The names of kernels' functions: said once for shared kernels, whose texts are WGSL elsewhere, and tables' own. */
import type { Constants, KernelSource } from "warpmap/engine";

/** Fragments of kernels that have one label and bind different things. */
const VARIANTS: { readonly [fragment: string]: string } = {
  "reduce/numbered-rows": "numbered",
  "reduce/keyed-rows": "keyed",
  "reduce/listed-rows": "listed",
  "join/no-part-words": "narrow",
  "join/part-words": "wide",
};
/** Words of sums and keys: a function for so many, and one for more, by the fragment that takes registers for them. */
const WORDS: readonly { fragment: string; constant: string; most: number }[] = [
  { fragment: "reduce/addends", constant: "WORDS", most: 3 },
  { fragment: "sketches/keys", constant: "KEY_WORDS", most: 2 },
];

/**
 * What the arguments of a kernel are named after: its label, behind the folder of its last fragment with a name
 * ("batch/pack" of the kernel "pack": batch_pack), and what it has of the fragments above.
 */
export function argumentsName({ label, fragments }: KernelSource): string {
  const names = fragments.map(({ name }) => name);
  const [folder] = names.findLast((name) => name !== "")?.split("/") ?? [];
  const variants = names.map((name) => VARIANTS[name]);
  return [folder, label, ...variants].filter(Boolean).join("_").replaceAll(/[ -]/g, "_");
}

/** The function of a kernel: the same, and the words of a sum or key. */
export function functionName(source: KernelSource, constants: Constants): string {
  const sized = WORDS.find(({ fragment }) => source.fragments.some(({ name }) => name === fragment));
  if (!sized) return argumentsName(source);
  const words = Number(constants[sized.constant]);
  return `${argumentsName(source)}_${words <= sized.most ? words : "any"}`;
}
