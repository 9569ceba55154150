/** A stream put into a temporary file, to be read at any place and more than once. */
import { fileModule } from "./builtin.js";
import { fileErrorFrom } from "./errors.js";
import { fileSource } from "./file-source.js";
import type { Source } from "./source.js";
import { makeTemporaryFolder, temporaryPlace } from "./temporary-folder.js";

/**
 * @param place of the temporary folder; default: the system's
 * @throws FileError that names the place where there is no room for it; what the source throws, as it is
 */
export async function spooled(
  source: Source,
  place: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Source> {
  const where = temporaryPlace(place);
  const written = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw fileErrorFrom(where, error, "cannot hold temporary files", "Name another folder for them.");
    });
  const folder = await written(makeTemporaryFolder(where));
  try {
    const path = fileModule("node:path").join(folder.path, "input");
    const file = await written(fileModule("node:fs/promises").open(path, "wx"));
    try {
      for await (const piece of source.pieces(signal)) await written(file.appendFile(piece));
    } finally {
      await file.close();
    }
    const spool = await written(fileSource(path, source.name));
    const close = () => spool.close().finally(folder.remove);
    return { ...spool, close };
  } catch (error) {
    await folder.remove();
    throw error;
  } finally {
    await source.close();
  }
}
