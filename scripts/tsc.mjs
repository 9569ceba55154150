// The compiler of TypeScript 7, which has no API yet: tools that need one take `typescript`, version 6.
import { createRequire } from "node:module";
import { join } from "node:path";

/** To be run by Node. */
export const tsc = join(createRequire(import.meta.url).resolve("typescript-7/package.json"), "../bin/tsc");
