/**
 * Files of commands that turn tables into a table: what their options say of them, and checks before anything is read.
 */
import {
  FORMATS,
  type Format,
  formatOf,
  isTextFormat,
  knownFormatOf,
  type ReadOptions,
} from "../io/formats.js";
import { checkWritable, sameFile } from "../io/output.js";
import { CallError } from "./failure.js";
import type { Host } from "./host.js";
import { askedTypes, threadCount } from "./table-checks.js";

/** Options about files, as commander gives them. */
export interface FileOptions {
  readonly type?: string;
  readonly format?: string;
  readonly delimiter?: string;
  readonly quote?: string;
  /** False with --no-header. */
  readonly header?: boolean;
  readonly out?: string;
  readonly json?: boolean;
  readonly threads?: string;
}

/** Stands for standard input and standard output. */
export const STANDARD = "-";

/** A file as a command reads or writes it. */
export interface NamedFile {
  /** `-` for a standard stream. */
  readonly path: string;
  /** What messages call it. */
  readonly name: string;
  readonly format: Format;
}

/** The files of a call. */
export interface CommandFiles {
  readonly inputs: readonly NamedFile[];
  readonly out: NamedFile | undefined;
  /** How inputs are read. */
  readonly reading: Pick<ReadOptions, "types" | "delimiter" | "quote" | "header" | "threads">;
  /** That work on a file, and on the cpu engine; undefined: the default of each. */
  readonly threads: number | undefined;
}

/**
 * Finds out what the files are, and that the result can be written.
 * @param purpose what the files are for, in words: "to join"
 * @throws CallError, FormatError, FileError
 */
export async function checkFiles(
  paths: readonly string[],
  options: FileOptions,
  purpose: string,
  host: Host,
): Promise<CommandFiles> {
  const asked = checkedFormat(options.format);
  const threads = threadCount(options.threads);
  const inputs = paths.map((path) => namedFile(path, "standard input", asked));
  const out = options.out === undefined ? undefined : namedFile(options.out, "standard output", asked);
  if (paths.filter((path) => path === STANDARD).length > 1) {
    throw new CallError("Standard input is named twice.", "Name a file in place of one of the -.");
  }
  const isUsed = [...paths, options.out ?? ""].some((path) => path !== "" && !hasOwnFormat(path));
  if (asked !== undefined && !isUsed) {
    throw new CallError(
      `--format ${asked} says nothing here: the extensions of the files name their formats.`,
      "Leave it out, or write - for standard input or output.",
    );
  }
  checkCsvOptions(options, inputs);
  if (out?.path === STANDARD) checkStandardOutput(out, options, host);
  else if (out !== undefined) {
    await refuseInput(out.path, paths, purpose);
    await checkWritable(out.path);
  }
  const { delimiter, quote, header } = options;
  const types = Object.fromEntries(askedTypes(options.type));
  return { inputs, out, threads, reading: { types, delimiter, quote, header, threads } };
}

function hasOwnFormat(path: string): boolean {
  return path !== STANDARD && knownFormatOf(path) !== undefined;
}

export function checkedFormat(text: string | undefined): Format | undefined {
  const format = FORMATS.find((each) => each === text);
  if (text === undefined || format !== undefined) return format;
  throw new CallError(`There is no format "${text}".`, `The formats are ${FORMATS.join(", ")}.`);
}

function namedFile(path: string, standard: string, asked: Format | undefined): NamedFile {
  if (path !== STANDARD) return { path, name: path, format: knownFormatOf(path) ?? asked ?? formatOf(path) };
  if (asked !== undefined) return { path, name: standard, format: asked };
  throw new CallError(`Nothing says what format ${standard} has.`, `Add --format ${FORMATS.join("|")}.`);
}

/** Without a csv file they would be ignored in silence. */
function checkCsvOptions(options: FileOptions, inputs: readonly NamedFile[]): void {
  if (inputs.some(({ format }) => isTextFormat(format))) return;
  const given = [
    options.delimiter !== undefined && "--delimiter",
    options.quote !== undefined && "--quote",
    options.header === false && "--no-header",
  ].find((option) => option !== false);
  if (given === undefined) return;
  throw new CallError(`${given} is for csv files, and none is read.`, "Leave it out.");
}

function checkStandardOutput({ format }: NamedFile, { json }: FileOptions, { stdout }: Host): void {
  if (json) {
    throw new CallError("--json and --out - both print to standard output.", "Leave one of them out.");
  }
  if (stdout.isTTY === true && !isTextFormat(format)) {
    throw new CallError(`A terminal cannot show ${format} data.`, "Name a file, or pipe the output.");
  }
}

/** Writing over an input would destroy it. Paths are compared by the files they lead to. */
async function refuseInput(out: string, inputs: readonly string[], purpose: string): Promise<void> {
  for (const input of inputs) {
    if (!(await sameFile(input, out))) continue;
    const which = inputs.length === 1 ? "the file" : "one of the files";
    throw new CallError(`--out ${out} is ${which} ${purpose}.`, "Name another file.");
  }
}
