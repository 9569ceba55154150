/** Of tests of exchanges: a folder, a server of S3 with a bucket named "bucket", and what their answers are read with. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { ClusterError } from "../../packages/cluster/src/errors.js";
import type { Exchange } from "../../packages/cluster/src/exchange.js";
import { type S3Server, startS3 } from "./s3-server.js";

export const MIB = 2 ** 20;
export const bytes = (text: string) => new TextEncoder().encode(text);
export const text = (read: Uint8Array) => new TextDecoder().decode(read);

/** Makes a folder that is there for one test file. Answers with a function from names to paths in it. */
export function temporaryFolder(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), "warpmap-exchange-"));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return (name) => join(folder, name);
}

/** Starts a server for one test file, and sets the variables of the SDK in each test. */
export function serverOfS3(): () => S3Server {
  let s3: S3Server;
  beforeAll(async () => {
    s3 = await startS3(["bucket"]);
  });
  afterAll(() => s3.close());
  beforeEach(() => {
    for (const [name, value] of Object.entries(s3.env)) vi.stubEnv(name, value);
  });
  afterEach(() => {
    vi.unstubAllEnvs();
    s3.intercept = null;
    s3.conditionalWrites = "done";
    s3.requests.length = 0;
  });
  return () => s3;
}

/** The ClusterError that a promise or a call fails with. */
export async function failureOf(call: Promise<unknown> | (() => unknown)): Promise<ClusterError> {
  try {
    await (typeof call === "function" ? call() : call);
  } catch (error) {
    expect(error).toBeInstanceOf(ClusterError);
    return error as ClusterError;
  }
  throw new Error("nothing failed");
}

export async function listed(exchange: Exchange, name = ""): Promise<string[]> {
  const files: string[] = [];
  for await (const file of exchange.list(name)) files.push(file);
  return files.sort();
}

/** Bytes that differ from place to place. */
export function pattern(length: number): Uint8Array {
  const words = Uint32Array.from({ length: Math.ceil(length / 4) }, (_, i) => Math.imul(i, 0x9e3779b1));
  return new Uint8Array(words.buffer, 0, length);
}
