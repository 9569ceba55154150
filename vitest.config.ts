// Projects, one suite: test/conformance runs on the CPU engine, on WebGPU in Node and on WebGPU in a browser.
// The GPU is SwiftShader and the browser Chromium, both from npm (scripts/software-gpu.mjs). Worker processes get `env` as
// they start, which is when the Vulkan loader reads it; tests of the command line hand it on.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { emulatedGpuEnv, emulator } from "./packages/cuda/scripts/emulator.mjs";
import { sourceTexts } from "./scripts/build-plugins.mjs";
import { softwareBrowser, softwareGpuEnv } from "./scripts/software-gpu.mjs";

/** Everything, and randomised tests long: npm run test:long, or WARPMAP_TEST_LONG=1. */
const long = process.env.WARPMAP_TEST_LONG === "1";

const CONFORMANCE = "test/conformance/**/*.test.ts";
/** What bulk calls do, for strategies and devices that are forced upon all of them. */
const OPERATIONS =
  "test/conformance/{contains,erase,find,insert,insert-and-find,insert-or-assign,sentinels}.test.ts";
/**
 * Of the partitioned strategy, whose kernels have tests of their own, `npm test` takes lookups, inserts, and keys that look
 * like marks.
 */
const FORCED = long ? OPERATIONS : "test/conformance/{contains,find,insert-and-find,sentinels}.test.ts";
/** What several GPUs do otherwise than one; `npm run test:long` has the whole suite on them. */
const SHARED =
  "test/conformance/{bloom-filter,composites,dynamic-sequences,full-table,hyperloglog,multimap-edges,pinned-arrays,random-sequences,rehash,rejected-elements,retrieve-all,utf8-maps,wide-columns}.test.ts";
/** Joins and groups on the device under test, compared with DuckDB, which runs in Node only. */
const RELATIONAL =
  "test/{arrow/payload-types,relational/{aggregate/float-sums,device/{device-tables,dictionary-keys},group/{device-groups,distinct,group-batches,group-by,random-groups},join/{full-join-keys,is-in,join,join-index,join-kinds,join-oracle,join-select},keys/key-types,random-tables,tpch/tpch}}.test.ts";
const WEBGPU_ONLY = "test/{engine/gpu,engine/webgpu,wgsl}/**/*.test.ts";
/**
 * Where a page differs from Node, which compiles the same WGSL with the same Dawn: memory and transfers, waiting, aborts,
 * the device, errors, and each container once; test/browser has joins and groups. `npm run test:long` has the whole suite
 * in pages.
 */
const HOST_MATTERS =
  "test/conformance/{bloom-filter,calls-in-flight,clear,contains,create,device,device-arrays,device-loss,dynamic-limits,errors,find,hyperloglog,insert,insert-and-find,insert-or-assign,joined-calls,lifetime,memory,multimap-bytes,options,pinned-arrays,rehash,retrieve-all,signals,utf8-maps,whole-table,wide-columns}.test.ts";
/** Kernels of users, which pages compile as well. */
const OWN_KERNELS = "test/wgsl/wgsl.test.ts";
const ALL_OWN_KERNELS = "test/wgsl/{wgsl,changing,changing-wide,multi}.test.ts";
const CUDA_ONLY = "packages/cuda/test/**/*.test.ts";
/** What the GPU refuses leaves anything in memory by which kernels after it go: they need Dawn's bounds (test/setup.ts). */
const REFUSED = "test/engine/webgpu/refused.test.ts";
/** Levels of GPU engines, with options that users do not have. */
const GPU_LEVELS =
  "test/engine/gpu/{groups/{group-rows,params},join/{join-columns,join-rows,join-tables,match-*},{lists,reduce,sketches,strings}/*}.test.ts";
/** Servers and worker processes, for which tests wait more than they work. */
const CLUSTER_ONLY = "test/cluster/**/*.test.ts";
/** Tools of those who work on warpmap, which start many processes, and benchmarks that compare with DuckDB. */
const TOOLS = [
  "test/scripts/{pack-conformance,processes}.test.ts",
  "test/bench/{files,group-vs-duckdb,join-vs-duckdb}.test.ts",
];
const BROWSER_ONLY = "test/browser/**/*.test.ts";

/** `npm run test:quick` leaves out folders whose tests read dist/, start processes or write large files, and such files elsewhere. */
const quick = process.env.WARPMAP_TEST_QUICK === "1";
const NOT_QUICK = ["test/{bench,cli,docs,scripts,spill,types}/**", ...(quick ? slowByImports() : [])];

/** Files that compare with DuckDB, start processes, or are about threads. */
function slowByImports(): string[] {
  const files = readdirSync("test", { recursive: true, encoding: "utf8" }).map((name) => `test/${name}`);
  const isSlow = (file: string) =>
    /threads/.test(file) || /(duckdb|oracle)\.js"|node:child_process/.test(readFileSync(file, "utf8"));
  return files.filter((file) => file.endsWith(".test.ts") && isSlow(file));
}

/** With these a page has SharedArrayBuffer. */
const crossOriginIsolation = {
  "Cross-Origin-Opener-Policy": "same-origin",
  "Cross-Origin-Embedder-Policy": "require-corp",
};

/**
 * Projects that one Vitest runs at once: three processes, each of which compiles what it needs and waits for the GPU a third of its
 * time; or one process beside the browser, for the kernels that take longest to compile. `npm test` as a whole starts a Vitest for each
 * project instead, all in one process (scripts/test.mjs).
 */
const NODE_ALONE = { groupOrder: 0, maxWorkers: 3 };
const BESIDE_BROWSER = { groupOrder: 1, maxWorkers: 1 };

/** Files that take longest come first: one that came last would leave a core idle. Without a cache Vitest goes by their sizes. */
const LONG_FILES = [
  // these collect garbage again and again: the less modules a process has, the faster
  "engine/when-dropped",
  "engine/gpu/memory/when-dropped",
  "bench/benchmarks",
  "cli/streamed",
  "cli/memory",
  "spill/large",
  "cli/early-workers",
  "cli/process",
  "docs/recipes",
  "docs/examples",
  "conformance/wide-keys",
  "conformance/wide-changes",
  "relational/keys/key-types",
  "relational/join/join-rows",
  "io/fuzz/fuzz",
  "relational/join/join-oracle",
  "engine/cpu/threads/threads",
  "engine/cpu/random-operations",
  "conformance/random-sequences",
  "conformance/plan",
  "engine/webgpu/table/windows",
  "engine/webgpu/wide-tables",
  "engine/webgpu/direct/long-probes",
  "engine/gpu/batch/pipeline",
].map((name) => `/test/${name}.test.ts`);
const rank = ({ moduleId }: TestSpecification) => {
  const place = LONG_FILES.findIndex((name) => moduleId.endsWith(name));
  return place < 0 ? LONG_FILES.length : place;
};

const TIMEOUT_MS = long ? 3_600_000 : 120_000;

/**
 * Of processes that compile kernels: glibc keeps the memory that compilers give back, and does not ask the system for it again, page by
 * page, at the next kernel.
 */
const KEEP_MEMORY = { MALLOC_TRIM_THRESHOLD_: `${2 ** 30}`, MALLOC_TOP_PAD_: `${2 ** 25}` };

/**
 * Options of Node in worker processes. As many of them run at once as there are cores: helpers of the garbage collector would take turns
 * with other tests. Young objects get room for those of a whole test. Functions are optimised when they have run six times as long as by
 * default: tests run most code briefly.
 */
const execArgv = [
  "--single-threaded-gc",
  "--max-semi-space-size=32",
  "--interrupt-budget=400000",
  "--import",
  new URL("scripts/rest-between-polls.mjs", import.meta.url).href,
];

/**
 * Files of one project after the other's: a process ends, and its kernels with it, where the next file is of another project.
 * Within a project the longest first.
 */
class ByProject extends BaseSequencer {
  /** Long files to all parts alike, and files of one folder. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    const sorted = files.toSorted((a, b) => rank(a) - rank(b) || (a.moduleId < b.moduleId ? -1 : 1));
    return sorted.filter((_, i) => i % count === index - 1);
  }

  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted.sort((a, b) => a.project.name.localeCompare(b.project.name) || rank(a) - rank(b));
  }
}

/** A project whose files share processes, so that a kernel is compiled once in each. */
function onWebgpuInNode(
  name: string,
  { groupOrder, maxWorkers }: { groupOrder: number; maxWorkers: number },
  files: { include: string[]; exclude?: string[] },
  bulk = "auto",
) {
  return {
    extends: true as const,
    plugins: [sourceTexts()],
    test: {
      name,
      ...files,
      sequence: { groupOrder },
      pool: "forks" as const,
      execArgv,
      maxWorkers,
      isolate: false,
      env: { ...softwareGpuEnv(), ...KEEP_MEMORY },
      provide: { backend: "webgpu" as const, host: "node" as const, bulk, long },
    },
  };
}

/** A project on the stand-in for the CUDA driver. */
function onCuda(name: string, files: { include: string[]; isolate: boolean }, bulk = "auto", env = {}) {
  return {
    extends: true as const,
    plugins: [sourceTexts()],
    test: {
      name,
      ...files,
      sequence: { groupOrder: NODE_ALONE.groupOrder },
      maxWorkers: NODE_ALONE.maxWorkers,
      pool: "forks" as const,
      execArgv,
      env: { ...emulatedGpuEnv(), ...env },
      provide: { backend: "cuda" as const, host: "node" as const, bulk, long },
    },
  };
}

/** Where the stand-in is built: scripts/test.mjs builds it, and says where it cannot. */
const CUDA_PROJECTS = [
  onCuda("cuda", { include: [CONFORMANCE, RELATIONAL, GPU_LEVELS], isolate: false }),
  onCuda("cuda-partitioned", { include: [FORCED], isolate: false }, "partitioned"),
  // one GPU, twice
  onCuda(
    "cuda-several",
    { include: long ? [CONFORMANCE, RELATIONAL] : [OPERATIONS, SHARED], isolate: false },
    "auto",
    { WARPMAP_TEST_GPUS: "0,0" },
  ),
  // a fault there loses all devices of a process
  onCuda("cuda-engine", { include: [CUDA_ONLY], isolate: true }),
];

export default defineConfig({
  // packages of this repository, from their sources
  resolve: {
    alias: {
      "warpmap-cuda": fileURLToPath(new URL("packages/cuda/src/index.ts", import.meta.url)),
      "warpmap/engine": fileURLToPath(new URL("src/engine/kit.ts", import.meta.url)),
      "warpmap/stages": fileURLToPath(new URL("src/stages/kit.ts", import.meta.url)),
    },
  },
  test: {
    // SwiftShader runs kernels on the same cores as everything else, and compiles them on one
    maxWorkers: 3,
    setupFiles: "test/setup.ts",
    sequence: { sequencer: ByProject },
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
    projects: [
      {
        extends: true as const,
        plugins: [sourceTexts()],
        test: {
          name: "cpu",
          include: ["test/**/*.test.ts"],
          exclude: [
            WEBGPU_ONLY,
            CLUSTER_ONLY,
            BROWSER_ONLY,
            ...(quick ? NOT_QUICK : []),
            ...(long ? [] : TOOLS),
          ],
          sequence: { groupOrder: NODE_ALONE.groupOrder },
          maxWorkers: NODE_ALONE.maxWorkers,
          pool: "forks",
          execArgv,
          isolate: false, // starting a process for each file takes as long as a fourth of the tests
          env: softwareGpuEnv(),
          provide: { backend: "cpu", host: "node", bulk: "auto", long, quick },
        },
      },
      {
        extends: true as const,
        plugins: [sourceTexts()],
        test: {
          name: "cluster",
          include: [CLUSTER_ONLY],
          sequence: { groupOrder: NODE_ALONE.groupOrder },
          maxWorkers: NODE_ALONE.maxWorkers,
          pool: "forks",
          execArgv,
          isolate: false,
          provide: { backend: "cpu", host: "node", bulk: "auto", long, quick },
        },
      },
      // one device, for engines with options that users do not have too: test/engine/webgpu/helpers/variants.ts
      onWebgpuInNode("webgpu", NODE_ALONE, {
        include: [CONFORMANCE, RELATIONAL, WEBGPU_ONLY],
        exclude: [REFUSED],
      }),
      onWebgpuInNode("webgpu-partitioned", BESIDE_BROWSER, { include: [FORCED, REFUSED] }, "partitioned"),
      ...(existsSync(emulator) ? CUDA_PROJECTS : []),
      {
        extends: true as const,
        plugins: [sourceTexts()],
        server: { headers: crossOriginIsolation },
        // Known before the first page loads: a dependency that Vite finds later reloads the page under the tests.
        optimizeDeps: { include: ["fast-check", "@uwdata/flechette"] },
        test: {
          name: "browser",
          include: [BROWSER_ONLY, ...(long ? [CONFORMANCE, ALL_OWN_KERNELS] : [HOST_MATTERS, OWN_KERNELS])],
          sequence: { groupOrder: BESIDE_BROWSER.groupOrder },
          maxWorkers: BESIDE_BROWSER.maxWorkers, // one page
          isolate: false,
          provide: { backend: "webgpu", host: "browser", bulk: "auto", long },
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
