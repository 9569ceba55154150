/**
 * A module of WebAssembly, from its text as imports of .wat files have it (base64). Throws where there is no WebAssembly, a
 * page's content policy refuses it, or it lacks something, such as SIMD: then JavaScript is to do the same.
 */
export function wasmModule(base64: string): WebAssembly.Module {
  return new WebAssembly.Module(Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
}
