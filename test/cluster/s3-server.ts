/**
 * A server of S3 in this process, on s3rver, with what that lacks: conditional writes, aborted uploads, lists of more
 * than one page, the range 0-0, and answers that come only once the object is whole. Tests may answer requests themselves, to see what clients make of it.
 */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** The key id and the secret that s3rver knows. */
export const CREDENTIALS = { AWS_ACCESS_KEY_ID: "S3RVER", AWS_SECRET_ACCESS_KEY: "S3RVER" };

/** What a server does with `If-None-Match: *`: as AWS does, not heeding it, or refusing it (501). */
export type ConditionalWrites = "done" | "ignored" | "refused";

export interface S3Server {
  /** `http://127.0.0.1:port`. */
  readonly endpoint: string;
  /** Names and values of variables with which the SDK uses this server. */
  readonly env: Readonly<Record<string, string>>;
  conditionalWrites: ConditionalWrites;
  /** Sees each request first; answers with true when it takes it over. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | null;
  /** "PUT /bucket/key?query" of each request, in order. */
  readonly requests: string[];
  /** Makes empty objects, quicker than by requests. */
  fill(bucket: string, keys: readonly string[]): void;
  /** Uploads in parts that were neither completed nor aborted. */
  openUploads(bucket: string): string[];
  close(): Promise<void>;
}

interface Store {
  getResourcePath(bucket: string, key: string | undefined, resource: string): string;
  getObject(bucket: string, key: string, options?: { start?: number; end?: number }): Promise<unknown>;
  getBucketPath(bucket: string): string;
  getBucket(bucket: string): Promise<unknown>;
  existsObject(bucket: string, key: string): Promise<unknown>;
  putObject(object: { bucket: string; key: string }): Promise<{ size: number }>;
  putPart(bucket: string, upload: string, part: number, content: unknown): Promise<{ size: number }>;
}

/** The part of s3rver's class that is used; it has no types. */
interface Rver {
  readonly store: Store;
  configureBuckets(): Promise<unknown>;
  getMiddleware(): (request: IncomingMessage, response: ServerResponse) => void;
  readonly logger: { close(): void; exceptions: { unhandle(): void } };
}

/** Starts a server on a free port, with empty buckets of these names, in a temporary folder. */
export async function startS3(buckets: readonly string[]): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "warpmap-s3-"));
  const S3rver = createRequire(import.meta.url)("s3rver") as new (options: object) => Rver;
  const configureBuckets = buckets.map((name) => ({ name }));
  const rver = new S3rver({ directory, silent: true, vhostBuckets: false, configureBuckets });
  await rver.configureBuckets();
  answerOnceWhole(rver.store);
  readFirstByte(rver.store);
  const handle = rver.getMiddleware();
  const inTurn = conditionalPuts(rver.store);

  const http = createServer((request, response) => {
    server.requests.push(`${request.method} ${request.url}`);
    if (server.intercept?.(request, response)) return;
    if (request.method === "DELETE" && /[?&]uploadId=/.test(request.url ?? "")) {
      abortUpload(rver.store, request);
      response.writeHead(204).end();
    } else if (request.method === "PUT" && request.headers["if-none-match"] === "*") {
      if (server.conditionalWrites === "refused") refuse(request, response, 501, "NotImplemented");
      else if (server.conditionalWrites === "ignored") handle(request, response);
      else inTurn(request, response, () => handle(request, response));
    } else if (request.method === "GET" && /[?&]list-type=2/.test(request.url ?? "")) {
      listPage(rver.store, request, response).then((listed) => listed || handle(request, response));
    } else handle(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  const endpoint = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;

  const server: S3Server = {
    endpoint,
    env: { ...CREDENTIALS, AWS_ENDPOINT_URL_S3: endpoint, AWS_REGION: "us-east-1" },
    conditionalWrites: "done",
    intercept: null,
    requests: [],
    fill(bucket, keys) {
      for (const key of keys) {
        const path = rver.store.getResourcePath(bucket, key, "object");
        mkdirSync(dirname(path), { recursive: true });
        writeFileSync(path, "");
      }
    },
    openUploads(bucket) {
      const uploads = rver.store.getResourcePath(bucket, undefined, "uploads");
      return statSync(uploads, { throwIfNoEntry: false }) ? readdirSync(uploads) : [];
    },
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      rver.logger.exceptions.unhandle();
      rver.logger.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
  return server;
}

/** Answers a request with an error of S3. */
export function refuse(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  code: string,
  message = code,
): void {
  request.resume().on("end", () => {
    response.writeHead(status, { "content-type": "application/xml" });
    response.end(
      `<?xml version="1.0" encoding="UTF-8"?><Error><Code>${code}</Code><Message>${message}</Message></Error>`,
    );
  });
}

/** The bucket and the key of a request by path. */
function targetOf(request: IncomingMessage): { bucket: string; key: string } {
  const [bucket, ...key] = new URL(request.url ?? "/", "http://s3").pathname.slice(1).split("/");
  return { bucket, key: decodeURIComponent(key.join("/")) };
}

/** Conditional writes of one key one after the other: the first that finds none makes it. */
function conditionalPuts(store: Store) {
  const turns = new Map<string, Promise<unknown>>();
  return (request: IncomingMessage, response: ServerResponse, put: () => void) => {
    const { bucket, key } = targetOf(request);
    const turn = async () => {
      if (await store.existsObject(bucket, key)) return refuse(request, response, 412, "PreconditionFailed");
      const ended = new Promise((resolve) => response.on("close", resolve));
      put();
      await ended;
    };
    turns.set(key, (turns.get(key) ?? Promise.resolve()).then(turn));
  };
}

/** s3rver answers before a body is in its file. */
function answerOnceWhole(store: Store): void {
  const whole = async (path: string, size: number) => {
    while ((statSync(path, { throwIfNoEntry: false })?.size ?? -1) < size) await sleep(1);
  };
  const { putObject, putPart } = store;
  store.putObject = async (object) => {
    const done = await putObject.call(store, object);
    await whole(store.getResourcePath(object.bucket, object.key, "object"), done.size);
    return done;
  };
  store.putPart = async (bucket, upload, part, content) => {
    const done = await putPart.call(store, bucket, upload, part, content);
    await whole(join(store.getResourcePath(bucket, undefined, "uploads"), upload, `${part}`), done.size);
    return done;
  };
}

/** s3rver takes an end of 0 for none. */
function readFirstByte(store: Store): void {
  const { getObject } = store;
  store.getObject = (bucket, key, options) =>
    getObject.call(store, bucket, key, options?.end === 0 ? { ...options, end: Object(0) } : options);
}

/** s3rver makes tokens of further pages with DES, which OpenSSL no longer has. Here a token is the last page's last key. */
async function listPage(store: Store, request: IncomingMessage, response: ServerResponse): Promise<boolean> {
  const { bucket } = targetOf(request);
  if (!(await store.getBucket(bucket))) return false; // s3rver has the error
  const asked = new URL(request.url ?? "/", "http://s3").searchParams;
  const after = Buffer.from(asked.get("continuation-token") ?? "", "base64url").toString();
  const most = Math.min(1000, Number(asked.get("max-keys") ?? 1000));
  const prefix = asked.get("prefix") ?? "";
  const rest = keysOf(store, bucket).filter((key) => key > after && key.startsWith(prefix));
  const keys = rest.slice(0, most);
  const token = rest.length > most ? Buffer.from(keys[most - 1]!).toString("base64url") : null;
  const contents = keys.map((key) => `<Contents><Key>${escapeXml(key)}</Key></Contents>`).join("");
  const next = token === null ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`;
  response.writeHead(200, { "content-type": "application/xml" });
  response.end(
    `<ListBucketResult><IsTruncated>${token !== null}</IsTruncated>${contents}${next}</ListBucketResult>`,
  );
  return true;
}

/** s3rver keeps the object `a/b` in the file `a/b._S3rver_object`. */
const OBJECT = "._S3rver_object";

function keysOf(store: Store, bucket: string): string[] {
  const files = readdirSync(store.getBucketPath(bucket), { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(OBJECT))
    .map((file) => file.slice(0, -OBJECT.length))
    .sort();
}

function escapeXml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

function abortUpload(store: Store, request: IncomingMessage): void {
  const upload = new URL(request.url ?? "/", "http://s3").searchParams.get("uploadId") ?? "";
  const { bucket } = targetOf(request);
  if (/^[\w-]+$/.test(upload)) {
    rmSync(join(store.getResourcePath(bucket, undefined, "uploads"), upload), {
      recursive: true,
      force: true,
    });
  }
}
