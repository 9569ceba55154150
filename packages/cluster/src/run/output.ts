/**
 * Where the answer goes: a folder of parts, a file, or nowhere but back to the caller. It appears whole: workers write
 * parts under names of their attempts, and only those of results that the queue took are part of it.
 *
 * A folder is made beside its place and gets its name in one step. In a bucket nothing can be renamed: there a manifest
 * names the parts, made unless there is one, and what it does not name goes. `_SUCCESS` comes last.
 */
import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Format } from "warpmap/io";
import { ClusterError } from "../errors.js";
import { openExchange } from "../exchange/open-exchange.js";
import type { JobResult, RunPlan } from "../jobs.js";

export const MANIFEST = "_manifest.json";
const SUCCESS = "_SUCCESS";

/** A file of the answer. */
export interface Part {
  /** Its name in the folder. */
  readonly file: string;
  readonly rows: number;
  readonly bytes: number;
}

export interface Manifest {
  readonly run: string;
  readonly format: Format;
  readonly columns: readonly string[];
  readonly rows: number;
  readonly parts: readonly Part[];
}

/** A folder of parts. */
export interface FolderOutput {
  /** Where workers write. */
  readonly planned: RunPlan["out"];
  /** Makes the answer what the results say. @throws ClusterError where another one has got there first */
  commit(columns: readonly string[], results: readonly JobResult[]): Promise<Manifest>;
  /** Removes what there is of an answer that was not committed. */
  withdraw(): Promise<void>;
}

/** Files of the answer, in the order of the results. */
export function partsOf(results: readonly JobResult[]): Part[] {
  return results.flatMap(({ made, rows }) => (made === null ? [] : [{ ...made, rows }]));
}

function manifestOf(
  base: Pick<Manifest, "run" | "format" | "columns">,
  parts: readonly Part[],
): { readonly manifest: Manifest; readonly bytes: Uint8Array } {
  const manifest = { ...base, rows: parts.reduce((sum, { rows }) => sum + rows, 0), parts };
  return { manifest, bytes: json(manifest) };
}

const notEmpty = (out: string, file: string) =>
  new ClusterError(
    "OUT_NOT_EMPTY",
    `${out} is not empty: it has ${file}.`,
    "Name another folder, or remove what is in this one.",
  );

/** @throws ClusterError where the folder is not empty, or is none */
export async function folderOutput(path: string, run: string, format: Format): Promise<FolderOutput> {
  await checkEmptyFolder(path);
  const hidden = join(dirname(path), `.${basename(path)}.${run}`);
  const attempts = join(hidden, "attempts");
  const withdraw = () => rm(hidden, { recursive: true, force: true });
  await mkdir(attempts, { recursive: true });
  return {
    planned: { url: pathToFileURL(attempts).href, folder: "", format },
    async commit(columns, results) {
      const whole = join(hidden, "whole");
      await mkdir(whole);
      const parts: Part[] = [];
      for (const [i, part] of partsOf(results).entries()) {
        const file = `part-${String(i).padStart(5, "0")}.${format}`;
        await rename(join(attempts, part.file), join(whole, file));
        parts.push({ ...part, file });
      }
      const { manifest, bytes } = manifestOf({ run, format, columns }, parts);
      await writeFile(join(whole, MANIFEST), bytes);
      await writeFile(join(whole, SUCCESS), "");
      await checkEmptyFolder(path);
      await rename(whole, path);
      await withdraw();
      return manifest;
    },
    withdraw,
  };
}

async function checkEmptyFolder(path: string): Promise<void> {
  const there = await readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return [];
    throw new ClusterError("OUT", `${path} is no folder.`, "Name another folder.", { cause: error });
  });
  if (there.length > 0) throw notEmpty(path, there[0]);
}

/** Of parts that workers write to a bucket. */
const PART = /^part-\d{5}-/;

/** @throws ClusterError where the bucket's folder holds other files, or an answer */
export async function bucketOutput(url: string, run: string, format: Format): Promise<FolderOutput> {
  const out = await openExchange(url);
  for await (const file of out.list("")) if (!PART.test(file)) throw notEmpty(url, file);
  const removeOthers = async (isOther: (file: string) => boolean) => {
    for await (const file of out.list("")) if (PART.test(file) && isOther(file)) await out.remove(file);
  };
  return {
    planned: { url: out.url, folder: "", format },
    async commit(columns, results) {
      const parts = partsOf(results);
      const { manifest, bytes } = manifestOf({ run, format, columns }, parts);
      if (!(await out.create(MANIFEST, bytes))) throw notEmpty(url, MANIFEST);
      const files = new Set(parts.map(({ file }) => file));
      await removeOthers((file) => !files.has(file));
      await out.create(SUCCESS, new Uint8Array(0));
      await out.close();
      return manifest;
    },
    async withdraw() {
      await removeOthers((file) => file.includes(run));
      await out.close();
    },
  };
}

export async function readManifest(path: string): Promise<Manifest> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Manifest;
  } catch (cause) {
    throw new ClusterError("MANIFEST", `${path} is no list of parts.`, "Name the files themselves.", {
      cause,
    });
  }
}

export function json(value: unknown): Uint8Array {
  return new TextEncoder().encode(`${JSON.stringify(value)}\n`);
}
