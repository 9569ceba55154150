/**
 * Engines of other packages: `warpmap-NAME` has the engine NAME, and registers it when it is imported. Packages are
 * looked for by the runtime alone: no bundler follows these imports.
 */
import { BackendUnavailableError } from "../errors.js";
import { checkOneOf, nearestOf } from "../options.js";
import { engineNamed, knownEngines } from "./registry.js";

/** Names that packages can have. */
const NAME = /^[a-z][a-z0-9-]{0,40}$/;

/** Engines that `auto` takes where their packages are installed. */
const SOUGHT = ["cuda"];
/** Those that were looked for: whether one is there does not change while a program runs. */
let sought: Promise<unknown> | undefined;

/**
 * Makes those known that are installed. One that does not load is as one that is not there: `auto` has others. A page
 * has none.
 */
export function findInstalled(): Promise<unknown> | undefined {
  if (globalThis.process?.versions?.node === undefined) return undefined;
  sought ??= Promise.allSettled(SOUGHT.map((name) => importPackage(`warpmap-${name}`)));
  return sought;
}

const importPackage = (specifier: string) => import(/* @vite-ignore */ /* webpackIgnore: true */ specifier);

/**
 * Makes sure that an engine is known.
 * @throws BackendUnavailableError when its package is not installed, or has none that fits; ValidationError for what
 * can be no name, and for one that is likely misspelt
 */
export async function loadEngine(name: unknown): Promise<void> {
  const known = ["auto", ...knownEngines().map(([each]) => each)];
  if (known.includes(name as string)) return;
  if (typeof name !== "string" || !NAME.test(name)) return checkOneOf("backend", name, known);
  const specifier = `warpmap-${name}`;
  const unavailable = (reason: string, fix: string, cause?: unknown) =>
    new BackendUnavailableError(name, [{ backend: name, reason }], fix, { cause });
  try {
    await importPackage(specifier);
  } catch (cause) {
    if (cause instanceof BackendUnavailableError) throw cause;
    const { message } = cause as Error;
    const isMissing = new RegExp(`['"\\u201c\`]${specifier}['"\\u201d\`]`).test(message);
    if (!isMissing) {
      const fix = `Update ${specifier} and warpmap, or use one of ${known.join(", ")}.`;
      throw unavailable(`the package ${specifier} does not load: ${message}`, fix, cause);
    }
    if (nearestOf(name, known) !== undefined) checkOneOf("backend", name, known);
    const fix = `Run \`npm install ${specifier}\`, or use one of ${known.join(", ")}.`;
    throw unavailable(`the package ${specifier} is not installed`, fix, cause);
  }
  if (engineNamed(name)) return;
  const fix = "Have one copy of warpmap (`npm ls warpmap` lists them), and update the package.";
  throw unavailable(`the package ${specifier} registers no such engine with this copy of warpmap`, fix);
}
