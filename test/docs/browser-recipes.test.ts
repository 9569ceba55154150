// The recipes of docs/recipes/browser.md, built by Vite and opened in Chromium under the policies that the page names.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Browser, type BrowserContext, chromium } from "playwright";
import { build, type PreviewServer, preview } from "vite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { softwareBrowser } from "../../scripts/software-gpu.mjs";

const root = resolve(import.meta.dirname, "../..");
const cache = join(root, "node_modules/.cache/warpmap");
const text = readFileSync(join(root, "docs/recipes/browser.md"), "utf8");
const blocks = [...text.matchAll(/^```(.*)\n([\s\S]*?)^```$/gm)].map(([, language, code]) => ({
  language,
  code,
}));

/** The page's only block in a language. */
function block(language: string): string {
  const found = blocks.filter((each) => each.language === language);
  expect(found.length, language).toBe(1);
  return found[0].code;
}
/** What the page says that a program's title is. */
function titleOf(language: string): string {
  const i = blocks.findIndex((each) => each.language === language);
  return (
    blocks
      .slice(i)
      .find((each) => each.language === "text")
      ?.code.trim() ?? "none"
  );
}

/** Threads, and files whose decoders are WebAssembly elsewhere: what a policy may refuse. */
const POLICY_PAGE = `
  import { openDevice, StaticMap } from "warpmap";
  import { readTable, tableToBytes } from "warpmap/io";
  async function main() {
    const device = await openDevice({ backend: "cpu", threads: 3 });
    await device.prepare([{ key: "u32", value: "u32", capacity: 10, calls: ["insert", "find"] }]);
    const keys = Uint32Array.from({ length: 400_000 }, (_, i) => i * 7);
    const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: keys.length });
    await map.insert(keys, keys);
    const { values } = await map.find(keys);
    const isRight = values.every((value, i) => value === keys[i]);
    const parquet = await tableToBytes({ a: Int32Array.from(keys) }, { format: "parquet", threads: 2 });
    const table = await readTable(parquet, { format: "parquet", threads: 2 });
    const { threads, name } = device.info;
    document.title = JSON.stringify({ isRight, rows: table.numRows, threads, name });
  }
  main().catch((error) => { document.title = "failed: " + error.stack });
`;
const pages = {
  react: block("jsx react"),
  opfs: block("js opfs"),
  indexeddb: block("js indexeddb"),
  policy: POLICY_PAGE,
};

let folder: string;
let browser: Browser;
let servers: Record<string, PreviewServer>;

beforeAll(async () => {
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, "browser-"));
  writeFileSync(join(folder, "counts.worker.js"), block("js worker"));
  for (const [name, code] of Object.entries(pages)) {
    writeFileSync(join(folder, `${name}.jsx`), code);
    const html = `<!doctype html><link rel="icon" href="/icon.png" /><script type="module" src="./${name}.jsx"></script>`;
    writeFileSync(join(folder, `${name}.html`), html);
  }
  const options = {
    root: folder,
    configFile: false as const,
    logLevel: "silent" as const,
    resolve: { alias: [{ find: /^warpmap(?=$|\/)/, replacement: join(root, "dist") }].map(withIndex) },
    oxc: { jsx: { runtime: "automatic" as const } },
    worker: { format: "es" as const },
  };
  const input = Object.keys(pages).map((name) => join(folder, `${name}.html`));
  await build({ ...options, build: { rollupOptions: { input } } });
  const serve = (policy: string) =>
    preview({
      ...options,
      preview: {
        port: 0,
        host: "127.0.0.1",
        headers: {
          "Content-Security-Policy": policy.trim(),
          "Cross-Origin-Opener-Policy": "same-origin",
          "Cross-Origin-Embedder-Policy": "require-corp",
        },
      },
    });
  servers = { strict: await serve(block("text strict")), fast: await serve(block("text fast")) };
  browser = await chromium.launch(softwareBrowser());
});
afterAll(async () => {
  await browser?.close();
  for (const server of Object.values(servers ?? {})) await server.close();
  rmSync(folder, { recursive: true });
});

/** Entries of dist/ by their names. */
function withIndex({ find, replacement }: { find: RegExp; replacement: string }) {
  return { find, replacement, customResolver: (path: string) => join(path, "index.js") };
}

/** The title that a page gives itself, and what it fetched. */
async function visit(context: BrowserContext, policy: string, name: string) {
  const page = await context.newPage();
  const scripts: string[] = [];
  page.on("response", (response) => {
    if (response.url().endsWith(".js")) scripts.push(response.url().split("/").at(-1) as string);
  });
  await page.goto(`${servers[policy].resolvedUrls?.local[0]}${name}.html`);
  await page.waitForFunction(() => document.title !== "", undefined, { timeout: 60_000 });
  const title = await page.title();
  await page.close();
  return { title, scripts };
}

describe.each(["strict", "fast"])("under the policy %s", (policy) => {
  it.each(["react", "opfs", "indexeddb"])("%s", async (name) => {
    const context = await browser.newContext();
    const language = name === "react" ? "jsx react" : `js ${name}`;
    if (name !== "react") expect((await visit(context, policy, name)).title).toMatch(/visit 1$/);
    expect((await visit(context, policy, name)).title).toBe(titleOf(language));
    await context.close();
  });

  it("threads and codecs", async () => {
    const context = await browser.newContext();
    const { title } = await visit(context, policy, "policy");
    const refused = { threads: 1, name: expect.stringMatching(/1 thread \(workers are refused: .+\)/) };
    const allowed = { threads: 3, name: "CPU, 3 threads" };
    expect(title).toContain("isRight");
    expect(JSON.parse(title)).toEqual({
      isRight: true,
      rows: 400_000,
      ...(policy === "strict" ? refused : allowed),
    });
    await context.close();
  });
});
