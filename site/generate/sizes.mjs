// The page of what an application loads: the table of scripts/check-size.mjs, made from the library as it is built.
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { root } from "../paths.mjs";

/** @returns the page's Markdown @throws where the library is not built */
export function sizes() {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, "scripts/check-size.mjs"), "--markdown"],
    {
      encoding: "utf8",
    },
  );
  if (!stdout.startsWith("|")) throw new Error(`scripts/check-size.mjs: ${stderr}`);
  return `---
aside: false
---

# Sizes

What a page loads that imports from an entry of warpmap: minified by esbuild, split into chunks and compressed by gzip, for the engine it opens.

- **first**: all that comes before the first call.
- **with large batches**: also what comes with the first use of large batches, wide keys, strings, and of the entry's other operations.
- **all chunks**: both engines and everything they may load.

${stdout}
A column without a limit is not held to one.
`;
}
