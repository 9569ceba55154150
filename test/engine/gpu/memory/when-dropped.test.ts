import { describe, it } from "vitest";
import { openDevice } from "../../../../src/index.js";
import { dropped, expectGivenBack } from "../../../helpers/dropped-cases.js";
import { sharedGpuDevice } from "../../webgpu/helpers/own-gpu.js";

describe("memory of what is dropped without destroy is given back (webgpu)", () => {
  for (const [name, drop] of Object.entries(dropped)) {
    it(`of ${name}`, async () => {
      using device = await openDevice({ gpuDevice: await sharedGpuDevice() });
      await expectGivenBack(device, drop);
    });
  }
});
