// Runs before each test file. What it imports stays loaded where files of a process share modules.
import { inject, vi } from "vitest";
import "./helpers/fast-equality.js";
import { onSwiftShader } from "./helpers/software-gpu.js";

const isSoftwareInNode = inject("backend") === "webgpu" && inject("host") === "node" && onSwiftShader;
// Dawn bounds every index of a kernel, which SwiftShader takes a fourth of all time to compile. Pages, the project
// webgpu-partitioned and long runs have that; here a kernel that goes past its memory is seen. Nor is Dawn's own SPIR-V checked.
if (isSoftwareInNode && inject("bulk") === "auto" && !inject("long")) {
  vi.doMock("webgpu", async (original) => {
    const dawn = await original<typeof import("webgpu")>();
    const create = ([disabled]: string[]) =>
      dawn.create([`${disabled},enable_spirv_validation`, "enable-dawn-features=disable_robustness"]);
    return { ...dawn, create };
  });
}
// An engine loads these as it opens. What a file's end interrupts is missing in the files after it.
if (inject("backend") === "cuda") {
  const { loadArrays, loadLists, loadRows, loadWarmUp } = await import("warpmap/engine");
  await Promise.all([loadArrays(), loadLists(), loadRows(), loadWarmUp()]);
}
