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
  "test/conformance/{contains,erase,find,insert,insert-and-find,insert-or-assign,sentinels,where}.test.ts";
/** Joins on the device under test, compared with DuckDB, which runs in Node only. */
const JOINS = "test/relational/{join,join-oracle,key-types,payload-types,random-tables}.test.ts";
const WEBGPU_ONLY = "test/{engine/webgpu,wgsl}/**/*.test.ts";
const BROWSER_ONLY = "test/browser/**/*.test.ts";

/** With these a page has SharedArrayBuffer. */
const crossOriginIsolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/** Projects that run at once: one process beside the browser, or two processes, each of which compiles what it needs. */
const BESIDE_BROWSER = { groupOrder: 1, maxWorkers: 1 };
const TWO_PROCESSES = { groupOrder: 2, maxWorkers: 2 };

/** Options of Node in worker processes. */
const execArgv = ["--import", new URL("scripts/rest-between-polls.mjs", import.meta.url).href];

/** A project whose files share processes, so that a kernel is compiled once in each. */
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
    // Two processes at once: SwiftShader runs kernels on the same cores as everything else, and compiles them on one.
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
          isolate: false, // starting a process for each file takes as long as a fourth of the tests
          env: softwareGpuEnv(),
          provide: { backend: "cpu", host: "node", bulk: "auto" },
        },
      },
      onWebgpuInNode("webgpu", BESIDE_BROWSER, [CONFORMANCE, JOINS]),
      // engines that share a device: test/engine/webgpu/helpers/variants.ts
      onWebgpuInNode("webgpu-engine", TWO_PROCESSES, [WEBGPU_ONLY]),
      onWebgpuInNode("webgpu-partitioned", TWO_PROCESSES, [OPERATIONS], "partitioned"),
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
          maxWorkers: BESIDE_BROWSER.maxWorkers, // one page
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
