/** Deno's own WebGPU, on the software GPU: uploads and results of several staging buffers. */
import { execFile } from "node:child_process";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { softwareGpuEnv } from "../../scripts/software-gpu.mjs";

const root = resolve(import.meta.dirname, "../..");
const PROGRAM = `
  import { openDevice, StaticMap } from ${JSON.stringify(pathToFileURL(resolve(root, "dist/index.js")).href)};
  const device = await openDevice({ backend: "webgpu", software: ${Object.keys(softwareGpuEnv()).length > 0} });
  const keys = Uint32Array.from({ length: 300_000 }, (_, i) => i * 3);
  const map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: keys.length });
  const { inserted } = await map.insert(keys, keys);
  const { values, found } = await map.find(keys);
  const isRight = values.every((value, i) => value === keys[i] && found[i] === 1);
  console.log(JSON.stringify({ backend: device.backend, inserted, isRight }));
  Deno.exit();
`;

it("a map of 300,000 keys", async () => {
  const deno = promisify(execFile)(
    process.execPath,
    [resolve(root, "node_modules/deno/bin.cjs"), "eval", PROGRAM],
    {
      env: { ...process.env, ...softwareGpuEnv() },
    },
  );
  const { stdout } = await deno;
  expect(JSON.parse(stdout)).toEqual({ backend: "webgpu", inserted: 300_000, isRight: true });
});
