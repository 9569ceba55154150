/** What a page asks for that Vite built: few files, and a bounded number for a container and for a join on each engine. */
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, chromium } from "playwright";
import { build, preview } from "vite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { softwareBrowser } from "../../scripts/software-gpu.mjs";

const root = resolve(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/warpmap");
/** The engine comes from the address. Options other than `backend` are checked by a file more. */
const OPEN = `
  const backend = location.hash.slice(1);
  const device = await openDevice(backend === "webgpu" ? { backend, software: true } : { backend });`;
const PAGES = {
  map: `import { openDevice, StaticMap } from "${root}/dist/index.js";
    async function main() {${OPEN}
      const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
      await map.insert(Uint32Array.of(1), Uint32Array.of(2));
      document.title = device.backend;
    }
    main();`,
  join: `import { openDevice } from "${root}/dist/index.js";
    import { join } from "${root}/dist/relational/index.js";
    async function main() {${OPEN}
      const joined = await join({ k: ["a", "b"] }, { k: ["b"], v: [1] }, { on: ["k"], device });
      document.title = joined.numRows + device.backend;
    }
    main();`,
};

let folder: string;
let browser: Browser;
beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "requests-"));
  browser = await chromium.launch(softwareBrowser());
});
afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true });
});

it.each([
  { name: "map", files: 36, requests: { cpu: 7, webgpu: 6, auto: 9 } },
  { name: "join", files: 40, requests: { cpu: 12, webgpu: 13 } },
] as const)("a page with a $name", async ({ name, files, requests }) => {
  const page = join(folder, name);
  mkdirSync(page);
  writeFileSync(join(page, "page.js"), PAGES[name]);
  writeFileSync(
    join(page, "index.html"),
    `<link rel="icon" href="data:," /><script type="module" src="./page.js"></script>`,
  );
  const options = { root: page, configFile: false as const, logLevel: "silent" as const };
  await build(options);
  expect(readdirSync(join(page, "dist/assets")).length).toBeLessThanOrEqual(files);
  const headers = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
  };
  const server = await preview({ ...options, preview: { port: 0, host: "127.0.0.1", headers } });
  for (const [backend, most] of Object.entries(requests)) {
    const opened = await browser.newPage();
    const scripts: string[] = [];
    opened.on("response", (response) => {
      if (response.url().endsWith(".js")) scripts.push(response.url().split("/").at(-1) as string);
    });
    await opened.goto(`${server.resolvedUrls?.local[0]}#${backend}`);
    await opened.waitForFunction(() => document.title !== "", undefined, { timeout: 60_000 });
    await opened.close();
    expect(scripts.length, scripts.join(" ")).toBeLessThanOrEqual(most);
    // a browser whose only GPU is a software one has none for `auto`
    if (backend !== "webgpu") expect(scripts.join(" ")).not.toMatch(/webgpu-(core|engine|later)/);
  }
  await server.close();
});
