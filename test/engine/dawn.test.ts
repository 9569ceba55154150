/** Why there is no WebGPU in Node, as openDevice tells it. */
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

const root = resolve(import.meta.dirname, "../..");

beforeEach(() => {
  vi.resetModules();
  // as on a machine that has a Vulkan loader
  vi.spyOn(process, "dlopen").mockImplementation(() => {
    throw new Error("Module did not self-register.");
  });
});
afterEach(() => {
  vi.doUnmock("webgpu");
  vi.restoreAllMocks();
  // files share a process: no other one is to find what these tests opened
  vi.resetModules();
});

/** The error of opening the webgpu backend. */
async function refused(): Promise<{ name: string; message: string; fix: string }> {
  const { openDevice } = await import("../../src/index.js");
  return openDevice({ backend: "webgpu" }).then(
    () => expect.unreachable(),
    (error) => error,
  );
}

/** Packages that do not load: their index.js, and what else is in their folder. */
const BROKEN = {
  "that is not there": {
    reason: /is not installed where this program looks.*Cannot find package/,
    fix: /npm install webgpu.*Next\.js/,
  },
  "without a build for the platform": {
    index: `import { createRequire } from "node:module"; createRequire(import.meta.url)("./dist/other/dawn.node");`,
    reason: /no Dawn for \w+ on \w+ \(Cannot find module/,
    fix: /platform without a build/,
  },
  "whose library the system does not load": {
    index: `import { createRequire } from "node:module"; createRequire(import.meta.url)("./dawn.node");`,
    reason: /does not load \(.*dawn\.node: (file too short|invalid ELF header|.*)\)/,
    fix: /shared library or a newer C library/,
  },
};

it.each(Object.entries(BROKEN))("says why of a package %s", (_, { reason, fix, ...webgpu }) => {
  const folder = mkdtempSync(join(tmpdir(), "warpmap-dawn-"));
  try {
    mkdirSync(join(folder, "node_modules/warpmap"), { recursive: true });
    for (const name of ["dist", "package.json"])
      symlinkSync(join(root, name), join(folder, "node_modules/warpmap", name), "junction");
    if ("index" in webgpu) {
      mkdirSync(join(folder, "node_modules/webgpu"));
      const write = (name: string, text: string) =>
        writeFileSync(join(folder, "node_modules/webgpu", name), text);
      write("package.json", `{ "name": "webgpu", "type": "module", "main": "index.js" }`);
      write("index.js", webgpu.index);
      write("dawn.node", "no library");
    }
    // so that the packages beside warpmap are those of the folder
    const args = ["--preserve-symlinks", "--input-type=module", "--eval", PROGRAM];
    const error = JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: "utf8" }));
    expect(error.name).toBe("BackendUnavailableError");
    expect(error.message).toMatch(reason);
    expect(error.fix).toMatch(fix);
    expect(error.message).toContain(error.cause.split("\n")[0]);
    expect(error.auto).toContain(error.cause.split("\n")[0]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

const PROGRAM = `
  import { openDevice } from "warpmap";
  const { name, message, fix, cause } = await openDevice({ backend: "webgpu" }).catch((error) => error);
  const { info } = await openDevice();
  console.log(JSON.stringify({ name, message, fix, cause: cause.message, auto: info.reason }));
`;

it("says that it does not start, and tries again", async () => {
  const create = vi.fn(() => {
    throw new Error("no ICD");
  });
  vi.doMock("webgpu", () => ({ create }));
  for (const _ of [1, 2]) expect((await refused()).message).toMatch(/does not start: no ICD/);
  expect(create).toHaveBeenCalledTimes(2);
});

describe("without a Vulkan loader", () => {
  beforeEach(() => {
    vi.spyOn(process, "dlopen").mockImplementation(() => {
      throw new Error("libvulkan.so.1: cannot open shared object file");
    });
    vi.spyOn(process, "platform", "get").mockReturnValue("linux");
  });

  it("says so, and does not start the package", async () => {
    const create = vi.fn();
    vi.doMock("webgpu", () => ({ create }));
    const { message, fix } = await refused();
    expect(message).toMatch(/no Vulkan loader/);
    expect(message).not.toMatch(/not installed/);
    expect(fix).toMatch(/^Install the GPU's Vulkan driver/);
    expect(create).not.toHaveBeenCalled();
  });

  it("says that both are missing where the package is not there either", async () => {
    vi.doMock("webgpu", () => {
      throw new Error("Cannot find package");
    });
    const { message, fix } = await refused();
    expect(message).toMatch(/the package webgpu does not load.*, and there is no Vulkan loader/);
    expect(fix).toMatch(/newer C library.*Vulkan driver/);
  });
});

it.each([
  { software: false, disabled: ["timestamp_quantization"] },
  {
    software: true,
    disabled: ["timestamp_quantization", "use_vulkan_zero_initialize_workgroup_memory_extension"],
  },
])("asks for what suits the GPU, software $software", async ({ software, disabled }) => {
  const requestAdapter = vi.fn(async () => null);
  const create = vi.fn((_flags: string[]) => ({ requestAdapter }));
  vi.doMock("webgpu", () => ({ create }));
  const { openDevice } = await import("../../src/index.js");
  await expect(openDevice({ backend: "webgpu", software })).rejects.toThrow();
  await expect(openDevice({ backend: "webgpu", software })).rejects.toThrow();
  expect(create.mock.calls).toEqual([[[`disable-dawn-features=${disabled.join(",")}`]]]);
});
