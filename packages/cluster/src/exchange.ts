/**
 * Where files lie that workers hand to each other, and the parts of a result: a folder that all see (directory.ts), or
 * a bucket of S3 (s3.ts). Names are relative, with "/" between their parts. A file appears whole or not at all, and is
 * never changed.
 */
export interface Exchange {
  /** Its URL without credentials: `file:///shared/dir`, `s3://bucket/prefix`. For jobs, messages and logs. */
  readonly url: string;
  /** Writes a file. Answers with its bytes. Names are those of an attempt: no two writers have one. */
  write(file: string, pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<number>;
  /** Bytes of a file, from one to before another; without them all. @throws ClusterError when it is not there */
  read(file: string, from?: number, to?: number): Promise<Uint8Array>;
  /** Makes a file unless there is one of that name; answers whether it did. */
  create(file: string, bytes: Uint8Array): Promise<boolean>;
  /** Names of the files in a folder ("" for all) and below it, in any order. */
  list(folder: string): AsyncIterable<string>;
  /** Removes a file, or a folder ("" for all) and all below it; nothing where there is none. */
  remove(folder: string): Promise<void>;
  close(): Promise<void>;
}
