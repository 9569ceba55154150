/**
 * One object of S3, written as its bytes come: in one request up to 8 MiB, in parts above. Two parts are under way
 * while the next is collected, so memory is bounded by three.
 */
import type { S3Client } from "@aws-sdk/client-s3";
import type { Sdk } from "./s3-client.js";

/** Bytes. S3 wants 5 MiB at least, of all parts but the last. */
const PART_BYTES = 8 * 2 ** 20;
/** Parts grow by PART_BYTES after so many, because S3 takes 10,000 at most: 430 GB in all. */
const PARTS_OF_A_SIZE = 1000;
const AT_ONCE = 2;
const FIRST_BYTES = 2 ** 16;

/** Call `add` for each piece, then `finish`; or `abort` at any time, after which nothing is there. */
export class Upload {
  readonly #sdk: Sdk;
  readonly #client: S3Client;
  readonly #target: { readonly Bucket: string; readonly Key: string };
  readonly #fails: (error: unknown) => never;
  readonly #aborting = new AbortController();
  readonly #parts: Promise<{ ETag: string | undefined; PartNumber: number }>[] = [];
  #id: string | undefined;
  /** Of the part that is collected: its first `#length` bytes. */
  #bytes = new Uint8Array(FIRST_BYTES);
  #length = 0;
  #total = 0;

  /** @param fails words an error of a request, and throws it */
  constructor(
    sdk: Sdk,
    client: S3Client,
    target: { readonly Bucket: string; readonly Key: string },
    fails: (error: unknown) => never,
  ) {
    this.#sdk = sdk;
    this.#client = client;
    this.#target = target;
    this.#fails = fails;
  }

  /** Copies a piece, which the caller may write to afterwards. */
  async add(piece: Uint8Array): Promise<void> {
    for (let at = 0; at < piece.length; ) {
      if (this.#length === this.#partBytes) await this.#send();
      const taken = Math.min(piece.length - at, this.#partBytes - this.#length);
      this.#reserve(this.#length + taken);
      this.#bytes.set(piece.subarray(at, at + taken), this.#length);
      this.#length += taken;
      at += taken;
    }
    this.#total += piece.length;
  }

  /** Answers with the bytes of the object, which is there from now on. */
  async finish(): Promise<number> {
    if (this.#parts.length === 0) {
      const Body = this.#bytes.subarray(0, this.#length);
      await this.#client.send(new this.#sdk.PutObjectCommand({ ...this.#target, Body })).catch(this.#fails);
      return this.#total;
    }
    await this.#send();
    const complete = new this.#sdk.CompleteMultipartUploadCommand({
      ...this.#target,
      UploadId: this.#id,
      MultipartUpload: { Parts: await Promise.all(this.#parts) },
    });
    await this.#client.send(complete).catch(this.#fails);
    return this.#total;
  }

  /** Never throws: what brought the caller here is the error to tell of. */
  async abort(): Promise<void> {
    this.#aborting.abort();
    // a part that arrives after the abort would stay
    await Promise.allSettled(this.#parts);
    if (this.#id === undefined) return;
    const command = new this.#sdk.AbortMultipartUploadCommand({ ...this.#target, UploadId: this.#id });
    await this.#client.send(command).catch(() => {});
  }

  /** Bytes of the part that is collected. */
  get #partBytes(): number {
    return PART_BYTES * (1 + Math.floor(this.#parts.length / PARTS_OF_A_SIZE));
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.min(this.#partBytes, Math.max(bytes, 2 * this.#bytes.length)));
    larger.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = larger;
  }

  /** Sends the part that was collected, and begins the next. */
  async #send(): Promise<void> {
    if (this.#id === undefined) {
      const begin = new this.#sdk.CreateMultipartUploadCommand(this.#target);
      this.#id = (await this.#client.send(begin).catch(this.#fails)).UploadId;
    }
    await this.#parts[this.#parts.length - AT_ONCE];
    const part = this.#sendPart(this.#bytes.subarray(0, this.#length), this.#parts.length + 1);
    part.catch(() => {}); // is awaited by finish, or by a later part
    this.#parts.push(part);
    this.#bytes = new Uint8Array(FIRST_BYTES);
    this.#length = 0;
  }

  async #sendPart(Body: Uint8Array, PartNumber: number) {
    const command = new this.#sdk.UploadPartCommand({
      ...this.#target,
      UploadId: this.#id,
      PartNumber,
      Body,
    });
    const { ETag } = await this.#client
      .send(command, { abortSignal: this.#aborting.signal })
      .catch(this.#fails);
    return { ETag, PartNumber };
  }
}
