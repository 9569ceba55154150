/** Engines that are not warpmap's own open by name, and say why they are not there. */
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
import { join } from "../../src/relational/index.js";
import { rejection } from "../conformance/helpers/checks.js";
import { counting } from "../conformance/helpers/keys.js";

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
    expect((await join(left, right, { on: ["id"], device })).toArray()).toHaveLength(2);
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
    expect(error.fix).toMatch(/^Run `npm install warpmap-tpuxyz`, or use one of auto, webgpu, cpu/);
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
