/** Where the texts of a folder are: see texts.ts. Loaded with the first kernel that is no plain table's. */
import type { Texts } from "./texts.js";

export const folders: { readonly [folder: string]: () => Promise<{ readonly texts: Texts }> } = {
  batch: () => import("../wgsl/batch.js"),
  columns: () => import("../wgsl/columns.js"),
  groups: () => import("../wgsl/groups.js"),
  join: () => import("../wgsl/join.js"),
  lists: () => import("../wgsl/lists.js"),
  partitioned: () => import("../wgsl/partitioned.js"),
  reduce: () => import("../wgsl/reduce.js"),
  sketches: () => import("../wgsl/sketches.js"),
  strings: () => import("../wgsl/strings.js"),
  table: () => import("../wgsl/table.js"),
};
