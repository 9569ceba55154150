/**
 * Makes WGSL fragments of the engine fit to stand in somebody else's module: every module-scope name gets a prefix.
 * Works on the text; it knows no more of WGSL than how declarations start, which is enough for fragments that no name
 * of a builtin or a keyword is declared in.
 */

/** Puts `prefix` and an underscore before every name that `code` declares at module scope, wherever it occurs. */
export function prefixNames(code: string, prefix: string): string {
  const declared = new Set(Array.from(topLevel(code).matchAll(DECLARATION), (match) => match[1]));
  return code.replace(/\b[A-Za-z]\w*/g, (word) => (declared.has(word) ? `${prefix}_${word}` : word));
}

const DECLARATION = /\b(?:fn|struct|alias|const|var(?:\s*<[^>]*>)?)\s+([A-Za-z]\w*)/g;

/** The code without comments and without what stands in braces. */
function topLevel(code: string): string {
  let rest = code.replace(/\/\/.*/g, "");
  for (let before = ""; before !== rest; ) {
    before = rest;
    rest = rest.replace(/\{[^{}]*\}/g, ";");
  }
  return rest;
}
