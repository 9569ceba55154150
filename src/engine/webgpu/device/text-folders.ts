/** Where the texts of a folder are: see texts.ts. Loaded with the first kernel that is no plain table's. */
import type { Texts } from "./texts.js";

export const folders: { readonly [folder: string]: () => Promise<{ readonly default: Texts }> } = {
  batch: () => import("../wgsl/batch?texts"),
  columns: () => import("../wgsl/columns?texts"),
  groups: () => import("../wgsl/groups?texts"),
  join: () => import("../wgsl/join?texts"),
  lists: () => import("../wgsl/lists.js"),
  partitioned: () => import("../wgsl/partitioned.js"),
  reduce: () => import("../wgsl/reduce?texts"),
  sketches: () => import("../wgsl/sketches?texts"),
  strings: () => import("../wgsl/strings?texts"),
  table: () => import("../wgsl/table.js"),
};
