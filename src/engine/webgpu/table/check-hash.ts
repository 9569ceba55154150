/**
 * Runs the WGSL of a user's own hash function on sample keys, and compares it with the JavaScript. Once for a function
 * and device.
 */
import { EngineError, ValidationError } from "../../../errors.js";
import { Scratch } from "../../gpu/batch/columns.js";
import { getOrMake } from "../../gpu/get-or-make.js";
import { kernelSource, read, readWrite } from "../../gpu/kernel-source.js";
import type { OwnHash } from "../../hash-names.js";
import type { TableSpec } from "../../layout.js";
import { inHex, inWords, sampleHashes, sampleKeys } from "../../own-hash.js";
import { asBytes } from "../../scalars.js";
import { slotFormat } from "../../slot-format.js";
import { constantLines, wgsl } from "../device/module-code.js";
import check from "./check-hash.wgsl";
import hash from "./hash.wgsl";
import { hashCode } from "./hash-code.js";
import { each } from "./slot-code.js";
import type { TableHost } from "./table-state.js";

const checks = new WeakMap<TableHost["gpu"], WeakMap<OwnHash["js"], Map<string, Promise<void>>>>();

/** @throws ValidationError when the WGSL is missing, does not compile, or answers otherwise than the JavaScript */
export async function checkOwnWgsl(host: TableHost, spec: TableSpec): Promise<void> {
  const { hash: own } = spec;
  if (typeof own === "string") return;
  const { keyWords, claim } = slotFormat(spec);
  const ofDevice = getOrMake(checks, host.gpu, () => new WeakMap());
  const ofFunction = getOrMake(ofDevice, own.js, () => new Map<string, Promise<void>>());
  const text = `${keyWords} ${claim} ${own.name} ${own.wgsl}`;
  return getOrMake(ofFunction, text, () => {
    const compared = compare(host, own, spec);
    compared.catch(() => ofFunction.delete(text));
    return compared;
  });
}

async function compare(host: TableHost, own: OwnHash, spec: TableSpec): Promise<void> {
  const { name, wgsl } = own;
  if (wgsl === undefined) {
    throw new ValidationError(
      `The hash function ${name} has no wgsl, and this device hashes on the GPU.`,
      `Add wgsl: a text with \`fn ${name}(word: u32) -> u32\`, which does what js does.`,
    );
  }
  const { keyWords } = slotFormat(spec);
  const keys = sampleKeys(keyWords);
  const expected = sampleHashes(own, keys, keyWords);
  const hashes = await runOn(host, own, spec, keys, expected.length);
  const wrong = hashes.findIndex((hash, i) => hash !== expected[i]);
  if (wrong === -1) return;
  const key = keys.subarray(wrong * keyWords, (wrong + 1) * keyWords);
  throw new ValidationError(
    `The hash function ${name} answers ${inHex(hashes[wrong])} in WGSL and ${inHex(expected[wrong])} in JavaScript for the key ${inWords(key)}.`,
    "Write the same arithmetic on 32 bits in both: Math.imul(a, b) for a * b, and a >>> b for a >> b.",
  );
}

/** The hashes of keys by the function's WGSL. */
async function runOn(
  { gpu }: TableHost,
  own: OwnHash,
  spec: TableSpec,
  keys: Uint32Array<ArrayBuffer>,
  count: number,
): Promise<Uint32Array> {
  const kernel = await gpu.compile(checkKernel(own, spec), {}).catch((error) => {
    if (!(error instanceof EngineError)) throw error;
    const { cause } = error;
    throw new ValidationError(
      `The wgsl of the hash function ${own.name} does not compile: ${cause instanceof Error ? cause.message : cause}`,
      `Give a text with \`fn ${own.name}\` of ${slotFormat(spec).keyWords} parameters of type u32 that answers u32, and what it needs.`,
      { cause },
    );
  });
  const into = new Uint8Array(count * 4);
  const scratch = new Scratch(gpu);
  try {
    const [from, to] = [await scratch.buffer(keys.byteLength), await scratch.buffer(into.length)];
    gpu.write(from, 0, asBytes(keys) as Uint8Array<ArrayBuffer>);
    const bindings = { keys: { buffer: from }, hashes: { buffer: to } };
    await gpu.submit(
      "check hash",
      (recorder) => recorder.dispatch(kernel, bindings, { count }, Math.ceil(count / 64)),
      [{ buffer: to, offset: 0, into }],
    );
  } finally {
    scratch.release();
  }
  return new Uint32Array(into.buffer);
}

function checkKernel(own: OwnHash, spec: TableSpec) {
  const { keyWords, claim } = slotFormat(spec);
  const words = each(keyWords, (i) => `keys[at + ${i}u]`).join(", ");
  const call = claim === "key" ? `hashKey(${words})` : `hashWords(array<u32, KEY_WORDS>(${words}))`;
  return kernelSource(
    "check hash",
    ["count"],
    [
      wgsl(constantLines({ KEY_WORDS: keyWords })),
      wgsl(hash),
      wgsl(hashCode({ ...spec, hash: own, seed: 0 })),
      wgsl(`fn hashOf(at: u32) -> u32 { return ${call}; }`),
      wgsl(check, { bindings: { keys: read(), hashes: readWrite() } }),
    ],
  );
}
