/** A Node process that used a GPU ends by itself, whatever it left open. */
import { expect, it } from "vitest";
import { onSoftwareGpu } from "../../conformance/helpers/device.js";
import { runProgram } from "../../helpers/run-program.js";

const OPEN = `openDevice({ backend: "webgpu", software: ${onSoftwareGpu} })`;

/** Runs a program that imports warpmap; it has to end within seconds of its last statement. */
async function expectEnds(body: string): Promise<string> {
  const { status, stdout, stderr } = await runProgram(
    `import { openDevice, StaticMap } from "warpmap";
     const keys = Uint32Array.from({ length: 100_000 }, (_, i) => i);
     const create = (device) => StaticMap.create(device, { key: "u32", value: "u32", capacity: keys.length });
     ${body}`,
  );
  expect(status, `${stdout}\n${stderr}`).toBe(0);
  return stdout.trim();
}

it("after calls, with the device and everything else left open", async () => {
  const stdout = await expectEnds(`
    const device = await ${OPEN};
    const map = await create(device);
    await map.insert(keys, keys);
    const { found } = await map.find(keys, { output: "device" });
    console.log(map.size, (await found.read(0, 1))[0]);`);
  expect(stdout).toBe("100000 1");
});

it("after calls and destroy", async () => {
  const stdout = await expectEnds(`
    const device = await ${OPEN};
    device.lost.then(({ reason }) => console.log(reason));
    const map = await create(device);
    await map.insert(keys, keys);
    map.destroy();
    device.destroy();`);
  expect(stdout).toBe("destroyed");
});

it("with a device that nobody awaits", async () => {
  await expectEnds(`${OPEN};`);
});

it("with calls that nobody awaits", async () => {
  const stdout = await expectEnds(`
    const device = await ${OPEN};
    const map = await create(device);
    map.insert(keys, keys).then(({ inserted }) => console.log(inserted));
    map.find(keys);`);
  expect(stdout).toBe("100000");
});

it("after an error that nobody catches, with its status", async () => {
  const { status, stderr } = await runProgram(
    `import { openDevice, StaticMap } from "warpmap";
     const device = await ${OPEN};
     await StaticMap.create(device, { key: "u32", value: "u32", capacity: -1 });`,
  );
  expect(status).toBe(1);
  expect(stderr).toContain("ValidationError");
});
