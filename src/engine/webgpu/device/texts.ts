/**
 * The texts of fragments that GPU engines share (src/engine/gpu), by the fragment's name: "reduce/add-values" is the
 * file wgsl/reduce/add-values.wgsl. Each folder's are loaded with the first kernel that has one of them.
 */
import { EngineError } from "../../../errors.js";
import type { KernelSource } from "../../gpu/kernel-source.js";
import { lazily } from "../../lazily.js";
import cas from "../direct/cas.wgsl";
import hash from "../table/hash.wgsl";
import selected from "../table/selected.wgsl";
import fill from "./fill.wgsl";

/** WGSL, and the extensions that it needs. */
export interface Text {
  readonly code: string;
  readonly enables?: readonly string[];
}

/** Texts of a folder by the second part of their names. */
export type Texts = { readonly [name: string]: string | Text };

/** Those that every page needs. */
const core: Texts = {
  "": "",
  "direct/cas": cas,
  "table/hash": hash,
  "table/selected": selected,
  "device/fill": fill,
};

const loadFolders = lazily(() => import("./text-folders.js"));

/** What one device's kernels are made of. */
export class KernelTexts {
  readonly #known: Map<string, string | Text>;

  /**
   * @param subgroups a text "x-subgroups" stands for "x" in place of "x-plain"
   * @param replaced texts that tests put in place of the real ones
   */
  constructor(
    private readonly subgroups: boolean,
    private readonly replaced: { readonly [name: string]: string | undefined } = {},
  ) {
    this.#known = new Map(Object.entries(core));
  }

  /** Loads what a kernel's fragments need. */
  async load({ fragments }: KernelSource): Promise<void> {
    const missing = fragments.filter((each) => !("code" in each) && this.#find(each.name) === undefined);
    if (missing.length === 0) return;
    const { folders } = await loadFolders();
    const needed = new Set(missing.map(({ name }) => name.split("/")[0]));
    await Promise.all(
      [...needed].map(async (folder) => {
        const texts = (await folders[folder]?.()) ?? {};
        for (const [name, text] of Object.entries(texts)) this.#known.set(`${folder}/${name}`, text);
      }),
    );
  }

  /** A loaded text. @throws EngineError where there is none of that name */
  readonly of = (name: string): Text => {
    const text = this.replaced[name] ?? this.#find(name);
    if (text === undefined) throw new EngineError(`There is no kernel text ${name}.`);
    return typeof text === "string" ? { code: text } : text;
  };

  #find(name: string): string | Text | undefined {
    return this.#known.get(name) ?? this.#known.get(`${name}-${this.subgroups ? "subgroups" : "plain"}`);
  }
}
