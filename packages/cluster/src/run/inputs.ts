/** The files of an input: paths, folders and globs, found and cut into units; all have the same columns. */
import { readdir, stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { type Table, tableToIPC } from "@uwdata/flechette";
import { glob } from "tinyglobby";
import { knownFormatOf, noColumn, surveyFile, typeName } from "warpmap/stages";
import { ClusterError } from "../errors.js";
import type { PlannedInput, Reading, Unit } from "../jobs.js";
import { unitBytes, type Workers } from "./layout.js";
import { MANIFEST, readManifest } from "./output.js";

/** A file, a folder, a glob, or several of them. */
export type InputFiles = string | readonly string[];

export interface AskedInput {
  readonly files: InputFiles;
  /** "left", "right", "the input". */
  readonly name: string;
  readonly reading: Omit<Reading, "columns">;
}

export interface SurveyedInput {
  readonly reading: Omit<Reading, "columns">;
  readonly units: readonly Unit[];
  /** Its columns, without rows. */
  readonly like: Table;
  /** Of all units, as rows lie in memory, about. */
  readonly bytes: number;
}

/**
 * Finds and surveys the files. @throws ClusterError when there are none, FileError and FormatError as readTable,
 * ValidationError for columns that differ
 */
export async function surveyInput(
  { files, name, reading }: AskedInput,
  workers: Workers,
  signal?: AbortSignal,
): Promise<SurveyedInput> {
  const paths = await filesOf(files, name);
  const sizes = await Promise.all(paths.map(async (path) => (await stat(path).catch(() => null))?.size ?? 0));
  const size = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const cut = unitBytes(size, workers);
  const units: Unit[] = [];
  let like: Table | undefined;
  for (const path of paths) {
    const survey = await surveyFile(path, { ...reading, signal }, cut);
    like ??= survey.like;
    checkSame(like, survey.like, paths[0], path);
    units.push(...survey.units);
  }
  const bytes = units.reduce((sum, unit) => sum + unit.bytes, 0);
  return { reading, units, like: like as Table, bytes };
}

/** What workers are told of it. @param columns those that are read */
export function plannedInput({ reading, like }: SurveyedInput, columns: readonly string[]): PlannedInput {
  const names = like.names.map(String);
  for (const column of columns) if (!names.includes(column)) throw noColumn(column, names, "the input");
  const bytes = tableToIPC(like.select([...columns]), { format: "stream" }) as Uint8Array;
  return { reading: { ...reading, columns }, like: Buffer.from(bytes).toString("base64") };
}

async function filesOf(files: InputFiles, name: string): Promise<string[]> {
  const found: string[] = [];
  for (const path of typeof files === "string" ? [files] : files) {
    if (path.includes("://")) {
      throw new ClusterError(
        "NO_FILES",
        `Inputs are files that all workers see, and ${path} is a URL.`,
        "Name a path: copy the files to the shared folder.",
      );
    }
    found.push(...(await filesAt(path)));
  }
  if (found.length > 0) return found.map((path) => resolve(path));
  throw new ClusterError(
    "NO_FILES",
    `There are no files of ${name}: ${files}.`,
    "Name a file, a folder with csv, parquet or arrow files, or a glob.",
  );
}

async function filesAt(path: string): Promise<string[]> {
  const there = await stat(path).catch(() => null);
  if (there?.isDirectory()) return filesIn(path);
  if (there !== null || !/[*?[{]/.test(path)) return [path];
  const found = await glob(path.replaceAll("\\", "/"), { onlyFiles: true, absolute: true });
  return found.sort();
}

/** Files of a folder and those below it. A result of many parts has a list of them. */
async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder, { recursive: true });
  if (names.includes(MANIFEST)) {
    const { parts } = await readManifest(join(folder, MANIFEST));
    return parts.map(({ file }) => join(folder, file));
  }
  const hidden = /(^|[\\/])[._]/;
  return names
    .filter((name) => !hidden.test(name) && knownFormatOf(name) !== undefined)
    .sort()
    .map((name) => join(folder, name));
}

function checkSame(like: Table, other: Table, first: string, path: string): void {
  if (like === other) return;
  const columns = (table: Table) => table.schema.fields.map(({ name, type }) => `${name} ${typeName(type)}`);
  const [expected, there] = [columns(like), columns(other)];
  const at = expected.findIndex((column, i) => column !== there[i]);
  if (at < 0 && expected.length === there.length) return;
  const [here, instead] = [expected, there].map((list) => list[at < 0 ? expected.length : at] ?? "no column");
  throw new ClusterError(
    "COLUMNS_DIFFER",
    `${path} has ${instead} where ${first} has ${here}.`,
    "Files of one input have the same columns, of the same types. Give types of csv columns: --type COLUMN=TYPE.",
  );
}
