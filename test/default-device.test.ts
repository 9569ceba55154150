// The device of calls that name none: opened once, again after a failure or a loss, and no reason for a process to go on.
import { expect, it, vi } from "vitest";
import { sharedDevice } from "../src/default-device.js";
import { openDevice } from "../src/index.js";
import { runProgram } from "./helpers/run-program.js";

const openCpu = () => openDevice({ backend: "cpu", threads: 1 });

it("is opened by the first call, once for calls at the same time", async () => {
  const open = vi.fn(openCpu);
  const shared = sharedDevice(open);
  expect(open).not.toHaveBeenCalled();
  const devices = await Promise.all([shared(), shared()]);
  expect(new Set([...devices, await shared()]).size).toBe(1);
  expect(open).toHaveBeenCalledTimes(1);
  devices[0].destroy();
});

it("is opened again after it could not be opened", async () => {
  const open = vi.fn(openCpu).mockRejectedValueOnce(new Error("no driver"));
  const shared = sharedDevice(open);
  const both = [shared(), shared()];
  for (const call of both) await expect(call).rejects.toThrow("no driver");
  using device = await shared();
  expect(device.backend).toBe("cpu");
  expect(open).toHaveBeenCalledTimes(2);
});

it("is opened again after it was lost", async () => {
  const open = vi.fn(openCpu);
  const shared = sharedDevice(open);
  const lost = await shared();
  lost.destroy();
  await lost.lost;
  using device = await shared();
  expect(device).not.toBe(lost);
  expect(await shared()).toBe(device);
  expect(open).toHaveBeenCalledTimes(2);
});

/** Joins as a user calls them: two at once, then a third. Large enough for the cpu engine's workers. */
const JOINS = `
  import { columnFromArray, tableFromColumns } from "@uwdata/flechette";
  import { join } from "warpmap/relational";
  const rows = Number(process.argv[2]);
  const id = columnFromArray(Uint32Array.from({ length: rows }, (_, i) => i));
  const table = tableFromColumns({ id });
  const joinOnce = async () => (await join(table, table, { on: ["id"] })).numRows;
  const counts = await Promise.all([joinOnce(), joinOnce()]);
  counts.push(await joinOnce());
`;

/** Prints when something keeps the process alive after its last line. */
const LINGERS = `setTimeout(() => console.log("still here"), 1000).unref();`;

/** A GPU that a page would have: the software one, without the name by which `auto` passes it over. Counts devices. */
const GPU = `
  import { create } from "webgpu";
  const gpu = create([]);
  const devices = [];
  const named = (adapter) => new Proxy(adapter, {
    get(_, name) {
      if (name === "info") return { vendor: "test", architecture: "", device: "a GPU", description: "" };
      if (name === "requestDevice") return async (request) => {
        const device = await adapter.requestDevice(request);
        devices.push(device);
        return device;
      };
      return adapter[name];
    },
  });
  const requestAdapter = async (options) => named(await gpu.requestAdapter(options));
  Object.defineProperty(globalThis, "navigator", { value: { gpu: { requestAdapter } } });
`;

it("lets a process end after joins on the cpu engine", async () => {
  const { status, stdout, stderr } = await runProgram(`${JOINS} console.log(...counts); ${LINGERS}`, [
    "300000",
  ]);
  expect([status, stdout, stderr]).toEqual([0, "300000 300000 300000\n", ""]);
});

it("lets a process end after joins on a GPU, which it opens once, and once more after a loss", async () => {
  const { status, stdout, stderr } = await runProgram(
    `${GPU}${JOINS}
    console.log(devices.length, ...counts);
    devices[0].destroy();
    console.log(await joinOnce().catch((error) => error.code));
    console.log(await joinOnce(), devices.length);
    ${LINGERS}`,
    ["1000"],
  );
  expect([status, stdout, stderr]).toEqual([0, "1 1000 1000 1000\nDEVICE_LOST\n1000 2\n", ""]);
});
