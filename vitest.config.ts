// Projects, one suite: test/conformance runs on the CPU engine, on WebGPU in Node and on WebGPU in a browser.
// The GPU is SwiftShader and the browser Chromium, both from npm (scripts/software-gpu.mjs). Worker processes get `env` as
// they start, which is when the Vulkan loader reads it; tests of the command line hand it on.
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { sourceTexts } from "./scripts/build-plugins.mjs";
import { softwareBrowser, softwareGpuEnv } from "./scripts/software-gpu.mjs";

const CONFORMANCE = "test/conformance/**/*.test.ts";
/** What bulk calls do, for strategies that are forced upon all of them. */
const OPERATIONS =
  "test/conformance/{contains,erase,find,insert,insert-and-find,insert-or-assign,markers,where}.test.ts";
/** Joins on the device under test, compared with DuckDB, which runs in Node only. */
const JOINS = "test/relational/{join,join-oracle,key-types,payload-types,random-tables}.test.ts";
const WEBGPU_ONLY = "test/webgpu/**/*.test.ts";
const BROWSER_ONLY = "test/browser/**/*.test.ts";

/** With these a page has SharedArrayBuffer. */
const crossOriginIsolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

const BESIDE_BROWSER = { groupOrder: 1, maxWorkers: 1 };
const WITH_ITS_LIKE = { groupOrder: 2, maxWorkers: 2 };

/** Options of Node in worker processes. */
const execArgv = ["--import", new URL("scripts/rest-between-polls.mjs", import.meta.url).href];

/** A project of files that run in one process, so that each kernel is compiled once. */
function onWebgpuInNode(
  name: string,
  { groupOrder, maxWorkers }: { groupOrder: number; maxWorkers: number },
  include: string[],
  bulk = "auto",
) {
  return {
    extends: true as const,
    plugins: [sourceTexts()],
    test: {
      name,
      include,
      sequence: { groupOrder },
      pool: "forks" as const,
      execArgv,
      maxWorkers,
      isolate: false,
      env: softwareGpuEnv(),
      provide: { backend: "webgpu" as const, host: "node" as const, bulk },
    },
  };
}

export default defineConfig({
  test: {
    // Little at once, and one project after the other: SwiftShader runs on the same cores as everything else.
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
    projects: [
      {
        extends: true as const,
        plugins: [sourceTexts()],
        test: {
          name: "cpu",
          include: ["test/**/*.test.ts"],
          exclude: [WEBGPU_ONLY, BROWSER_ONLY],
          sequence: { groupOrder: 0 },
          pool: "forks",
          execArgv,
          env: softwareGpuEnv(),
          provide: { backend: "cpu", host: "node", bulk: "auto" },
        },
      },
      onWebgpuInNode("webgpu", BESIDE_BROWSER, [CONFORMANCE, JOINS]),
      // engines that share a device: test/webgpu/helpers/variants.ts
      onWebgpuInNode("webgpu-engine", WITH_ITS_LIKE, [WEBGPU_ONLY]),
      onWebgpuInNode("webgpu-partitioned", WITH_ITS_LIKE, [OPERATIONS], "partitioned"),
      {
        extends: true as const,
        plugins: [sourceTexts()],
        server: { headers: crossOriginIsolation },
        // Known before the first page loads: a dependency that Vite finds later reloads the page under the tests.
        optimizeDeps: { include: ["fast-check", "@uwdata/flechette"] },
        test: {
          name: "browser",
          include: [CONFORMANCE, BROWSER_ONLY],
          sequence: { groupOrder: BESIDE_BROWSER.groupOrder },
          maxWorkers: BESIDE_BROWSER.maxWorkers,
          isolate: false,
          provide: { backend: "webgpu", host: "browser", bulk: "auto" },
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            provider: playwright({ launchOptions: softwareBrowser() }),
            instances: [{ browser: "chromium" }],
          },
        },
      },
    ],
  },
});
