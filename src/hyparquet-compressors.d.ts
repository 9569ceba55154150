// Modules of hyparquet-compressors, whose own types are those of the package as a whole. Its entry starts a WebAssembly
// module when it is imported, which a page's content policy may refuse: nothing imports that.

declare module "hyparquet-compressors/src/brotli.js" {
  export function decompressBrotli(input: Uint8Array, outputLength: number): Uint8Array;
}

declare module "hyparquet-compressors/src/gzip.js" {
  export function gunzip(input: Uint8Array, output: Uint8Array): Uint8Array;
}
