/** What adapters are called, by the facts that Dawn, browsers and Deno give. */
import { expect, it } from "vitest";
import { adapterName } from "../../src/engine/webgpu/device/adapter.js";

const nothing = { vendor: "", architecture: "", device: "", description: "" };

it.each([
  [
    "Dawn",
    { vendor: "nvidia", architecture: "hopper", device: "nvidia-h100-80gb-hbm3", description: "driver" },
    "nvidia h100 80gb hbm3",
  ],
  ["Chromium", { ...nothing, vendor: "nvidia", architecture: "hopper" }, "nvidia hopper"],
  ["Chromium for developers", { ...nothing, vendor: "intel", device: "0x9A49" }, "intel"],
  [
    "Deno",
    { ...nothing, vendor: "4318", device: "0", description: "NVIDIA H100 80GB HBM3" },
    "NVIDIA H100 80GB HBM3",
  ],
  [
    "Deno, with the device's number",
    { ...nothing, vendor: "6880", device: "49374", description: "SwiftShader Device (Subzero)" },
    "SwiftShader Device (Subzero)",
  ],
  ["a device whose name has a number in it", { ...nothing, device: "rtx-4090" }, "rtx 4090"],
  ["numbers alone", { ...nothing, vendor: "4318", device: "0" }, "unnamed GPU"],
  ["nothing", nothing, "unnamed GPU"],
])("of %s", (_, facts, name) => expect(adapterName(facts)).toBe(name));
