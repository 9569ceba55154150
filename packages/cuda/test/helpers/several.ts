/** Devices of several GPUs that share all they can, however small, so that tests of small tables are tests of sharing. */
import { expect } from "vitest";
import { registerEngine } from "warpmap/engine";
import type { CudaRequest } from "../../src/cuda-engine.js";
import { cudaEngine } from "../../src/index.js";
import { type GpuOption, open } from "../../src/open.js";
import type { SeveralTuning } from "../../src/several/several-engine.js";

/** Tables of two slots or rows, arrays of 64 bytes, and rounds that long batches take several of. */
const SMALL = { bytes: 64, slots: 2, rows: 2, broadcast: 0, round: 2 ** 16 };

/** Has `openDevice({ backend: "cuda" })` open these GPUs, of which one may come several times. */
export function openSeveral(
  gpus: readonly number[],
  tuning: SeveralTuning & Pick<CudaRequest, "tuning"> = {},
): void {
  registerEngine("cuda", {
    ...cudaEngine,
    open: (request) =>
      open({
        ...(request as CudaRequest & GpuOption),
        gpus,
        ...tuning,
        least: { ...SMALL, ...tuning.least },
      }),
  });
}

/** The rows of a table as texts. */
export function textsOf(table: { toArray(): readonly unknown[] }): string[] {
  const textOf = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);
  return table.toArray().map((row) => JSON.stringify(row, textOf));
}

/** Compares rows, and names the first that differs. */
export function expectSameRows(rows: readonly string[], expected: readonly string[]): void {
  const at = expected.findIndex((row, i) => row !== rows[i]);
  expect([rows.length, at, rows[at]]).toEqual([expected.length, -1, undefined]);
}

/** Makes the engine what it is without that. */
export function restoreEngine(): void {
  registerEngine("cuda", cudaEngine);
}
