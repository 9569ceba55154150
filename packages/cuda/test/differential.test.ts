/** Random batches through the kernels of all slot formats, compared with std::unordered_map: differential.cpp. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";

const SECONDS = process.env.WARPMAP_TEST_LONG === "1" ? "60" : "1";

it("answers as the model does", { timeout: 180_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "warpmap-differential-"));
  try {
    const program = join(folder, "differential");
    const source = new URL("differential.cpp", import.meta.url).pathname;
    execFileSync("g++", ["-std=c++17", "-O1", source, "-o", program, "-ldl"], { stdio: "inherit" });
    const said = execFileSync(program, [process.env.WARPMAP_CUDA_DRIVER as string, "-", SECONDS]);
    expect(said.toString()).toMatch(/^[1-9]\d* trials .* right\n$/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
