/** A stream put into a temporary file, to be read at any place and more than once. */
import { fileModule } from "./builtin.js";
import { fileErrorFrom } from "./errors.js";
import { fileSource } from "./file-source.js";
import type { Source } from "./source.js";
import { makeTemporaryFolder } from "./temporary-folder.js";

/** @param place of the temporary folder; default: the system's @throws FileError where there is no room for it */
export async function spooled(
  source: Source,
  place: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Source> {
  const folder = await makeTemporaryFolder(place);
  try {
    const path = fileModule("node:path").join(folder.path, "input");
    const file = await fileModule("node:fs/promises").open(path, "wx");
    try {
      for await (const piece of source.pieces(signal)) await file.appendFile(piece);
    } finally {
      await file.close();
    }
    const spool = await fileSource(path, source.name);
    const close = async () => {
      await spool.close();
      await folder.remove();
    };
    return { ...spool, close };
  } catch (error) {
    await folder.remove();
    throw fileErrorFrom(folder.path, error, "cannot be written", "Name another folder.");
  } finally {
    await source.close();
  }
}
