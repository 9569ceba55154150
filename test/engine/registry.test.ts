/** Engines that are not warpmap's own open by name, and say why they are not there. */
import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import * as flechette from "@uwdata/flechette";
import { afterAll, describe, expect, it } from "vitest";
import { openCpuEngine } from "../../src/engine/cpu/cpu-engine.js";
import { ENGINE_PROTOCOL, type EngineKind, registerEngine } from "../../src/engine/registry.js";
import {
  BackendUnavailableError,
  type Device,
  listDevices,
  openDevice,
  StaticMap,
  ValidationError,
} from "../../src/index.js";
import { join as joinTables } from "../../src/relational/index.js";
import { rejection } from "../conformance/helpers/checks.js";
import { counting } from "../conformance/helpers/keys.js";

const root = resolve(import.meta.dirname, "../..");

/** Another one's engine: the cpu engine under a name and hardware of its own, which has one device. */
const fake: EngineKind = {
  protocol: ENGINE_PROTOCOL,
  // behind the cpu engine: `auto` of other tests is to go on without it
  order: 100,
  options: "slot",
  chosenBy: "slot",
  async open(request) {
    const { slot = 0 } = request as { slot?: number };
    if (slot > 0) {
      const reason = `there is no slot ${slot}`;
      throw new BackendUnavailableError("fake", [{ backend: "fake", reason }], "Use slot 0.");
    }
    const engine = await openCpuEngine({ threads: 1 });
    const info = { ...engine.info, backend: "fake", name: "Fake 1", hardware: { vendor: "tests" } };
    Object.defineProperty(engine, "info", { value: info });
    return { engine, reason: `Slot ${slot}.` };
  },
};
const forget = registerEngine("fake", fake);
// files of this project share a process
afterAll(forget);
const open = (options: object): Promise<Device> => openDevice(options);

describe("an engine that was registered", () => {
  it("opens by its name, and runs maps and joins", async () => {
    using device = await open({ backend: "fake" });
    expect(device.backend).toBe("fake");
    expect(device.info).toMatchObject({ name: "Fake 1", reason: "Slot 0.", hardware: { vendor: "tests" } });
    expect(device.info.adapter).toBe(device.info.hardware);
    using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 10 });
    await map.insert(counting(10), counting(10));
    expect((await map.find(counting(10))).values).toEqual(counting(10));
    const left = flechette.tableFromArrays({ id: [1, 2, 3] });
    const right = flechette.tableFromArrays({ id: [2, 3, 4], name: ["b", "c", "d"] });
    expect((await joinTables(left, right, { on: ["id"], device })).toArray()).toHaveLength(2);
  });

  it("is chosen by an option of its own, and is given it", async () => {
    using device = await open({ slot: 0 });
    expect(device.backend).toBe("fake");
    expect((await rejection(open({ slot: 1 }), BackendUnavailableError)).tried[0].reason).toBe(
      "there is no slot 1",
    );
    const error = await rejection(open({ backend: "cpu", slot: 0 }), ValidationError);
    expect(error.message).toMatch(/slot was given together with backend "cpu"/);
    expect((await rejection(open({ slto: 0 }), ValidationError)).fix).toContain('Did you mean "slot"?');
  });

  it("is listed behind those that `auto` asks first", async () => {
    const names = (await listDevices()).map(({ backend }) => backend);
    expect(names.slice(-2)).toEqual(["cpu", "fake"]);
  });

  it("has to be for this version of the seam", () => {
    const old = { ...fake, protocol: ENGINE_PROTOCOL + 1 };
    expect(() => registerEngine("old", old)).toThrow(/protocol 2 of engines, and this warpmap has 1/);
  });
});

describe("an engine that nobody registered", () => {
  it("is looked for in a package of its name", async () => {
    const error = await rejection(open({ backend: "tpuxyz" }), BackendUnavailableError);
    expect(error.message).toContain("the package warpmap-tpuxyz is not installed");
    expect(error.fix).toMatch(/^Run `npm install warpmap-tpuxyz`, or use one of auto, cuda, webgpu, cpu/);
  });

  it("is none where the name is misspelt, or cannot be that of a package", async () => {
    expect((await rejection(open({ backend: "wegbpu" }), ValidationError)).fix).toContain(
      'Did you mean "webgpu"?',
    );
    for (const backend of ["../cpu", "CUDA!", "", null, 7]) {
      await rejection(open({ backend }), ValidationError);
    }
  });
});

it("a package registers its engine with the copy of warpmap that imports it", async () => {
  const folder = await mkdtemp(join(tmpdir(), "warpmap-engine-"));
  try {
    const packages = join(folder, "node_modules");
    await cp(join(root, "dist"), join(packages, "warpmap/dist"), {
      recursive: true,
      filter: (path) => !/\.(map|d\.ts)$/.test(path),
    });
    await cp(join(root, "package.json"), join(packages, "warpmap/package.json"));
    for (const [name, code] of Object.entries({
      good: `import { ENGINE_PROTOCOL, registerEngine } from "warpmap";
        registerEngine("good", { protocol: ENGINE_PROTOCOL, order: 0, options: "gpu", open: async () => { throw new Error("opened"); } });`,
      old: `import { registerEngine } from "warpmap"; registerEngine("old", { protocol: 0 });`,
      odd: `throw new Error("no driver");`,
      none: "",
    })) {
      await mkdir(join(packages, `warpmap-${name}`));
      await writeFile(join(packages, `warpmap-${name}/index.mjs`), code);
      const manifest = { name: `warpmap-${name}`, exports: "./index.mjs" };
      await writeFile(join(packages, `warpmap-${name}/package.json`), JSON.stringify(manifest));
    }
    const program = `import { openDevice } from "warpmap";
      for (const options of [{ backend: "good", gpu: 1 }, { backend: "old" }, { backend: "odd" }, { backend: "none" }])
        console.log(await openDevice(options).catch(({ name, problem, message }) => name + ": " + (problem ?? message)));`;
    await writeFile(join(folder, "program.mjs"), program);
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "program.mjs")]);
    expect(stdout.trim().split("\n")).toEqual([
      "Error: opened",
      'BackendUnavailableError: Backend "old" is not available (old: it is for protocol 0 of engines, and this warpmap has 1).',
      'BackendUnavailableError: Backend "odd" is not available (odd: the package warpmap-odd does not load: no driver).',
      'BackendUnavailableError: Backend "none" is not available (none: the package warpmap-none registers no such engine with this copy of warpmap).',
    ]);
  } finally {
    await rm(folder, { recursive: true });
  }
});
