/** Bytes as text of one character each. */

/** Strings up to this length are made character by character. Measured on a 2-core x86 server. */
const SHORT = 64;

/** ASCII bytes as text. Others become some character each; different bytes of one length give different texts. */
export function asciiText(bytes: Uint8Array, start = 0, end = bytes.length): string {
  if (end - start > SHORT) return LATIN1.decode(bytes.subarray(start, end));
  let text = "";
  for (let i = start; i < end; i++) text += String.fromCharCode(bytes[i]);
  return text;
}

const LATIN1 = new TextDecoder("latin1");

/** Two hexadecimal digits a byte. */
export function hexText(bytes: Uint8Array): string {
  let text = "";
  for (const byte of bytes) text += HEX[byte];
  return text;
}

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
