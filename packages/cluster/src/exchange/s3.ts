/**
 * An exchange in a bucket of S3, or of a server that speaks its protocol (MinIO, Ceph, R2). Credentials, region and
 * endpoint come from the environment of the process, as for every program on the AWS SDK: from variables, profiles or
 * the role of the machine. They are never part of a URL or of a message.
 *
 * `create` is one step where the server implements `If-None-Match: *` (AWS, MinIO and R2 do). A server that ignores or
 * refuses it only looks before it writes: two creators at the same moment may both be told that they made the file.
 *
 * A process that is killed while it writes more than 8 MiB leaves parts of an upload, which cost storage but are in no
 * list. A lifecycle rule of the bucket, AbortIncompleteMultipartUpload, removes them.
 */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { GetObjectCommandOutput, HeadObjectCommandOutput, S3Client } from "@aws-sdk/client-s3";
import { ClusterError } from "../errors.js";
import type { Exchange } from "../exchange.js";
import { checkRange, fileName, folderName, notThere, tooShort } from "./names.js";
import { connect, loadSdk, type Sdk } from "./s3-client.js";
import { nameOf, S3Failures, statusOf } from "./s3-errors.js";
import { Upload } from "./s3-upload.js";

/** Of one request: the most that S3 takes. */
const KEYS_PER_DELETE = 1000;
/** Attempts at a body whose connection breaks; the SDK itself tries again only until a body begins. */
const BODY_ATTEMPTS = 4;
/** Attempts at a conditional write that meets another. */
const WRITE_ATTEMPTS = 6;
/** Milliseconds before the second attempt; doubled for each further one. */
const FIRST_DELAY = 50;
/** In the metadata of an object that `create` made: who made it. */
const CREATOR = "warpmap-creator";

/** Files as objects of a bucket, below a prefix. */
export class S3Exchange implements Exchange {
  readonly url: string;
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #bucket: string;
  /** Of the keys of all files: "" or with a "/" at its end. */
  readonly #prefix: string;
  readonly #failures: S3Failures;
  /** False once the server refused a conditional write as not implemented. */
  #isConditional = true;

  private constructor(sdk: Sdk, bucket: string, prefix: string) {
    const { client, endpoint } = connect(sdk);
    this.#sdk = sdk;
    this.#client = client;
    this.#bucket = bucket;
    this.#prefix = prefix === "" ? "" : `${prefix}/`;
    this.url = prefix === "" ? `s3://${bucket}` : `s3://${bucket}/${prefix}`;
    this.#failures = new S3Failures(this.url, endpoint);
  }

  /**
   * Opens `s3://bucket/prefix`, and asks the server once for its list.
   * @throws ClusterError EXCHANGE_URL for another URL or one with credentials; EXCHANGE when the package
   * `@aws-sdk/client-s3` or the bucket is not there, the server cannot be reached, or access is denied
   */
  static async open(url: string, load: () => Promise<Sdk> = loadSdk): Promise<S3Exchange> {
    const { bucket, prefix } = placeOf(url);
    const exchange = new S3Exchange(await load(), bucket, prefix);
    try {
      await exchange.#listPage("", undefined, 1);
    } catch (error) {
      await exchange.close();
      throw error;
    }
    return exchange;
  }

  /** Holds up to three parts of 8 MiB in memory; the parts of files above 8 GB are larger. */
  async write(file: string, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number> {
    const target = { Bucket: this.#bucket, Key: this.#key(file) };
    const upload = new Upload(this.#sdk, this.#client, target, this.#failures.of("write", file));
    try {
      for await (const piece of pieces) await upload.add(piece);
      return await upload.finish();
    } catch (error) {
      await upload.abort();
      throw error;
    }
  }

  async read(file: string, from = 0, to?: number): Promise<Uint8Array> {
    checkRange(file, from, to);
    if (to !== undefined && to === from) return this.#readNothing(file, to);
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#get(file, from, to);
      if (answer === null) return this.#readNothing(file, to ?? from);
      const length = answer.ContentLength ?? 0;
      if (to !== undefined && length < to - from) throw tooShort(this.url, file, from + length, to);
      try {
        return await bytesOf(answer, to === undefined ? length : to - from);
      } catch (error) {
        if (attempt === BODY_ATTEMPTS) return this.#failures.of("read", file)(error);
        await sleep(FIRST_DELAY * 2 ** (attempt - 1));
      }
    }
  }

  async create(file: string, bytes: Uint8Array): Promise<boolean> {
    const creator = randomUUID();
    const fails = this.#failures.of("create", file);
    if ((await this.#head(file)) !== null) return false;
    const object = {
      Bucket: this.#bucket,
      Key: this.#key(file),
      Body: bytes,
      Metadata: { [CREATOR]: creator },
    };
    for (let attempt = 1; ; attempt++) {
      try {
        const condition = this.#isConditional ? { IfNoneMatch: "*" } : {};
        await this.#client.send(new this.#sdk.PutObjectCommand({ ...object, ...condition }));
        return true;
      } catch (error) {
        const status = statusOf(error);
        // also when an answer got lost, and the SDK sent the request again: then the object is this call's
        if (status === 412) return (await this.#head(file))?.Metadata?.[CREATOR] === creator;
        if (status === 501 && this.#isConditional) this.#isConditional = false;
        else if (status !== 409 || attempt >= WRITE_ATTEMPTS) return fails(error);
        else await sleep(FIRST_DELAY * 2 ** (attempt - 1) * (0.5 + Math.random()));
      }
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    for await (const keys of this.#pages(folder)) {
      for (const key of keys) {
        // objects of such keys are what consoles show as folders
        if (!key.endsWith("/")) yield key.slice(this.#prefix.length);
      }
    }
  }

  async remove(folder: string): Promise<void> {
    if (folder !== "") await this.#delete([this.#key(folder)], folder);
    for await (const keys of this.#pages(folder)) {
      for (let at = 0; at < keys.length; at += KEYS_PER_DELETE) {
        await this.#delete(keys.slice(at, at + KEYS_PER_DELETE), folder);
      }
    }
  }

  async close(): Promise<void> {
    this.#client.destroy();
  }

  #key(file: string): string {
    return this.#prefix + fileName(file);
  }

  /** Null: no bytes from there on. */
  async #get(file: string, from: number, to: number | undefined): Promise<GetObjectCommandOutput | null> {
    const Range =
      from === 0 && to === undefined ? undefined : `bytes=${from}-${to === undefined ? "" : to - 1}`;
    const asked = { Bucket: this.#bucket, Key: this.#key(file), Range };
    try {
      return await this.#client.send(new this.#sdk.GetObjectCommand(asked));
    } catch (error) {
      if (statusOf(error) === 416) return null;
      if (nameOf(error) === "NoSuchKey") throw notThere(this.url, file);
      return this.#failures.of("read", file)(error);
    }
  }

  /** No bytes, of a file that must be there and reach to `end`. */
  async #readNothing(file: string, end: number): Promise<Uint8Array> {
    const found = await this.#head(file);
    if (found === null) throw notThere(this.url, file);
    const size = found.ContentLength ?? 0;
    if (size < end) throw tooShort(this.url, file, size, end);
    return new Uint8Array(0);
  }

  /** Null: there is no such file. */
  async #head(file: string): Promise<HeadObjectCommandOutput | null> {
    const asked = { Bucket: this.#bucket, Key: this.#key(file) };
    try {
      return await this.#client.send(new this.#sdk.HeadObjectCommand(asked));
    } catch (error) {
      return statusOf(error) === 404 ? null : this.#failures.of("look for", file)(error);
    }
  }

  /** Also keys that are not there. */
  async #delete(keys: readonly string[], folder: string): Promise<void> {
    const fails = this.#failures.of("remove", folder);
    const Delete = { Objects: keys.map((Key) => ({ Key })), Quiet: true };
    const asked = new this.#sdk.DeleteObjectsCommand({ Bucket: this.#bucket, Delete });
    const { Errors } = await this.#client.send(asked).catch(fails);
    const first = Errors?.[0];
    if (first) fails(Object.assign(new Error(first.Message), { name: first.Code ?? "Error" }));
  }

  async *#pages(folder: string): AsyncGenerator<string[]> {
    let token: string | undefined;
    do {
      const page = await this.#listPage(folder, token);
      yield (page.Contents ?? []).flatMap(({ Key }) => Key ?? []);
      token = page.NextContinuationToken;
    } while (token !== undefined);
  }

  async #listPage(folder: string, token: string | undefined, most?: number) {
    const Prefix = this.#prefix + (folderName(folder) === "" ? "" : `${folder}/`);
    const asked = { Bucket: this.#bucket, Prefix, ContinuationToken: token, MaxKeys: most };
    return this.#client
      .send(new this.#sdk.ListObjectsV2Command(asked))
      .catch(this.#failures.of("list", folder));
  }
}

/** @throws ClusterError EXCHANGE_URL, without the URL, which may hold a password */
function placeOf(url: string): { bucket: string; prefix: string } {
  const [, bucket = "", path = ""] = /^s3:\/\/([^/]*)(?:\/(.*))?$/is.exec(url) ?? [];
  const prefix = path.replace(/\/$/, "");
  let reason = "";
  if (bucket.includes("@") || bucket.includes(":")) reason = "it holds a user name or a password";
  else if (/[?#]/.test(url)) reason = 'it has a "?" or a "#"';
  else if (!/^[a-z0-9][a-z0-9._-]{1,62}$/i.test(bucket)) reason = "its bucket is not the name of one";
  if (reason === "") return { bucket, prefix: folderName(prefix) };
  throw new ClusterError(
    "EXCHANGE_URL",
    `This is not the URL of an exchange on S3: ${reason}.`,
    "Use s3://bucket/prefix, and hand over credentials as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
  );
}

/** All bytes of an answer, once. @throws where the connection breaks, or the server sends other bytes than asked for */
async function bytesOf({ Body }: GetObjectCommandOutput, length: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(length);
  let at = 0;
  for await (const piece of Body as AsyncIterable<Uint8Array>) {
    if (at + piece.length > length) throw new Error("The server sent more bytes than were asked for.");
    bytes.set(piece, at);
    at += piece.length;
  }
  if (at < length) throw new Error(`The connection broke after ${at} of ${length} bytes.`);
  return bytes;
}
