// Imports that the build turns into strings (scripts/build-plugins.mjs), as TypeScript sees them.

/** The text of a WGSL file. `dist` holds it without comments and indentation. */
declare module "*.wgsl" {
  const source: string;
  export default source;
}

/** `import texts from "./folder?texts"`: the same of each WGSL file of a folder, by its name without the ending. */
declare module "*?texts" {
  const texts: { readonly [name: string]: string };
  export default texts;
}

/** A WebAssembly module, assembled from its text, as base64. */
declare module "*.wat" {
  const bytes: string;
  export default bytes;
}

/** `import source from "./worker.ts?worker-source"`: that module and all it imports, as one classic script. */
declare module "*?worker-source" {
  const source: string;
  export default source;
}
