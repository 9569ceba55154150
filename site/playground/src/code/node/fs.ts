/** `node:fs` for programs of the view Code: files of the playground, and of wherever else an address leads that allows it. */

/** @throws Error when there is no such file */
export function readFileSync(
  file: string | URL,
  encoding?: string | { readonly encoding?: string },
): string | Uint8Array {
  const request = new XMLHttpRequest();
  // a worker may wait for a request, and a program for Node expects that
  request.open("GET", file, false);
  request.responseType = "arraybuffer";
  request.send();
  if (request.status !== 200) {
    throw new Error(`ENOENT: no such file in the playground, open '${file}'`);
  }
  const bytes = new Uint8Array(request.response as ArrayBuffer);
  const name = typeof encoding === "string" ? encoding : encoding?.encoding;
  return name === undefined ? bytes : new TextDecoder(name).decode(bytes);
}
