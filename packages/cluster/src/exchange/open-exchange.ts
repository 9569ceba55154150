/**
 * Exchanges by their URLs: `file:///shared/dir` or a path for a folder, `s3://bucket/prefix` for S3. A URL never holds
 * credentials, and messages never repeat a URL that might.
 */
import { lstatSync, realpathSync } from "node:fs";
import { dirname, isAbsolute, join, relative, resolve, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { ClusterError } from "../errors.js";
import type { Exchange } from "../exchange.js";
import { DirectoryExchange } from "./directory.js";
import { S3Exchange } from "./s3.js";

/**
 * Opens an exchange; a folder is made when it is not there, a bucket is not.
 * @throws ClusterError EXCHANGE_URL for what is no URL of an exchange; EXCHANGE when it cannot be used
 */
export async function openExchange(url: string): Promise<Exchange> {
  const path = folderOf(url);
  return path === null ? S3Exchange.open(url) : DirectoryExchange.open(path);
}

/**
 * Checks that the folder or file of a URL or path, which need not be there yet, is one of `dirs` or in one; also where
 * symbolic links lead. S3 passes.
 * @throws ClusterError OUTSIDE_DATA when it is in none of `dirs`; EXCHANGE_URL for what is no URL of an exchange
 */
export function confined(url: string, dirs: readonly string[]): void {
  const path = folderOf(url);
  if (path === null) return;
  const folders = dirs.map((dir) => realPlace(resolve(dir)));
  const isInside = (place: string | null) => folders.some((folder) => isWithin(place, folder));
  if (isInside(realPlace(path)) && isInside(placeOfSystem(url) ?? realPlace(path))) return;
  throw new ClusterError(
    "OUTSIDE_DATA",
    `The folder ${path} is outside of what this worker may use (${dirs.join(", ") || "no folder"}).`,
    "Use a folder below one of these, or start the worker with `--data` for another.",
  );
}

/** The absolute path of a folder; null for S3. @throws ClusterError EXCHANGE_URL */
function folderOf(url: string): string | null {
  if (/^s3:/i.test(url)) return null;
  if (url === "" || url.includes("\0")) throw notUnderstood("it is no path");
  if (/^file:/i.test(url)) return pathOfUrl(url);
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(url)?.[1];
  if (scheme !== undefined) throw notUnderstood(`its scheme is "${scheme}"`);
  return resolve(url);
}

function pathOfUrl(text: string): string {
  if (/^file:\/\/[^/]+@/i.test(text)) throw notUnderstood("it holds a user name or a password");
  if (/[?#]/.test(text)) throw notUnderstood('it has a "?" or a "#", to be written "%3F" and "%23"');
  if (!/^file:\/\/\//i.test(text) && process.platform !== "win32") {
    throw notUnderstood("a file URL begins with file:///");
  }
  try {
    const path = fileURLToPath(text);
    if (!path.includes("\0")) return resolve(path);
  } catch {
    // told below
  }
  throw notUnderstood("it names no path of this system");
}

function notUnderstood(reason: string): ClusterError {
  return new ClusterError(
    "EXCHANGE_URL",
    `This is not the URL of an exchange: ${reason}.`,
    "Use file:///absolute/folder, a path, or s3://bucket/prefix without credentials.",
  );
}

/** Where a path leads once its links are followed; null where they lead nowhere, or may not be followed. */
function realPlace(path: string): string | null {
  const missing: string[] = [];
  for (let place = path; ; place = dirname(place)) {
    if (isThere(place)) {
      try {
        return join(realpathSync(place), ...missing);
      } catch {
        return null;
      }
    }
    if (dirname(place) === place) return null;
    missing.unshift(place.slice(dirname(place).length).replace(/^[\\/]/, ""));
  }
}

/**
 * Where the system finds a path: it follows `link/..` to the folder above the link's target, which `resolve` does not.
 * Null: nowhere.
 */
function placeOfSystem(url: string): string | null {
  if (/^file:/i.test(url)) return null; // URLs have no ".."
  try {
    return realpathSync.native(url);
  } catch {
    return null;
  }
}

/** Also true of a link that leads nowhere: whoever makes its target decides where the folder is. */
function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ENOENT";
  }
}

function isWithin(path: string | null, folder: string | null): boolean {
  if (path === null || folder === null) return false;
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}
