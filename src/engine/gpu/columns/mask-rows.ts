/** A mask of listed rows: a byte each, as bulk calls take in `where`. */
import type { DeviceArray } from "../../device-array.js";
import type { Words } from "../../device-columns.js";
import { newArray, placeOf } from "../batch/columns.js";
import { checkBinding, runRows } from "../groups/row-run.js";
import type { GpuHost } from "../host.js";
import { bufferSize } from "../memory/buffer-pool.js";
import { NO_RECORDS } from "./gather-columns.js";
import { maskRowsKernel } from "./gather-kernels.js";

export async function maskRows(host: GpuHost, rows: Words, length: number): Promise<DeviceArray<"u8">> {
  const { engine, gpu } = host;
  const size = bufferSize(length);
  checkBinding(gpu, size);
  const mask = await newArray(engine, gpu, "u8", length);
  const { buffer } = placeOf(mask);
  const work = { call: { nullsEqual: false }, layout: NO_RECORDS, rows: rows.length, passes: 1 };
  try {
    await runRows(host, work, async (run) => {
      const bindings = { rows: await run.bind(rows), mask: { buffer, size } };
      await run.submit("clear", (recorder) => recorder.clear(buffer, 0, size));
      await run.over(maskRowsKernel, {}, rows.length, bindings, {}, { dispatched: true });
    });
    return mask;
  } catch (error) {
    mask.destroy();
    throw error;
  }
}
