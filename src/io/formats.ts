/** Which format a file has: by its extension, as on the command line. */
import { extname } from "node:path";
import { FormatError } from "../errors.js";
import type { AskedType } from "./csv-asked.js";

export type Format = "csv" | "parquet" | "arrow";

const EXTENSIONS: Record<string, Format> = {
  ".csv": "csv",
  ".parquet": "parquet",
  ".arrow": "arrow",
  ".feather": "arrow",
  ".ipc": "arrow",
};

/** The format of a file. @throws FormatError for an extension that is not known */
export function formatOf(path: string): Format {
  const format = EXTENSIONS[extname(path).toLowerCase()];
  if (format === undefined) {
    throw new FormatError(
      `The extension of ${path} names no format that warpmap knows.`,
      `Use one of ${Object.keys(EXTENSIONS).join(", ")}.`,
    );
  }
  return format;
}

/** What every reader and writer takes. */
export interface TransferOptions {
  /** Called now and then with the part that is done; the unit is the format's own. */
  onProgress?: (done: number, total: number) => void;
  /** When aborted the call rejects with the signal's reason. */
  signal?: AbortSignal;
}

/** What readers take besides. */
export interface ReadOptions extends TransferOptions {
  /** The types of csv columns by name, in place of those that their values suggest. Other formats name their types. */
  types?: ReadonlyMap<string, AskedType>;
}
