/** Where the texts of a folder are: see texts.ts. Loaded with the first kernel that is no plain table's. */
import type { Texts } from "./texts.js";

export const folders: { readonly [folder: string]: () => Promise<Texts> } = {
  batch: async () => (await import("../wgsl/batch.js")).batchTexts,
  columns: async () => (await import("../wgsl/columns.js")).columnsTexts,
  groups: async () => (await import("../wgsl/groups.js")).groupsTexts,
  join: async () => (await import("../wgsl/join.js")).joinTexts,
  lists: async () => (await import("../wgsl/lists.js")).listsTexts,
  partitioned: async () => (await import("../wgsl/partitioned.js")).partitionedTexts,
  reduce: async () => (await import("../wgsl/reduce.js")).reduceTexts,
  sketches: async () => (await import("../wgsl/sketches.js")).sketchesTexts,
  strings: async () => (await import("../wgsl/strings.js")).stringsTexts,
  table: async () => (await import("../wgsl/table.js")).tableTexts,
};
