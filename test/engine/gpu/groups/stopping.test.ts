// Grouping on the webgpu engine that is refused, stopped, or fails: what it rejects with, and that its memory is given back.
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { groupRows } from "../../../../src/engine/gpu/groups/group-rows.js";
import { RowRun } from "../../../../src/engine/gpu/groups/row-run.js";
import { Pacer } from "../../../../src/engine/gpu/pacer.js";
import { PlanLog } from "../../../../src/engine/plan-log.js";
import type { RowGroups } from "../../../../src/engine/row-groups.js";
import type { WebgpuEngine } from "../../../../src/engine/webgpu/webgpu-engine.js";
import { LimitError } from "../../../../src/errors.js";
import { rejection } from "../../../conformance/helpers/checks.js";
import { withSmallBindings } from "../../webgpu/helpers/own-gpu.js";
import { openVariant } from "../../webgpu/helpers/variants.js";
import { Scarcity } from "../../webgpu/helpers/watched-gpu.js";
import { check, keysOf, oneColumn, valuesOf } from "./cases.js";

const scarcity = new Scarcity();
let engine: WebgpuEngine;

beforeAll(async () => {
  engine = await openVariant({}, (gpuDevice) => scarcity.on(gpuDevice));
});
afterEach(() => {
  vi.restoreAllMocks();
  scarcity.after(Number.POSITIVE_INFINITY);
});

/** Buffers in use. */
function liveBuffers(): number {
  engine.trim();
  return scarcity.live;
}

describe("a grouping that ends early gives its memory back", () => {
  const rows = 3000;
  const keys = keysOf({
    kinds: [1, "strings"],
    columns: [valuesOf(rows, (row) => row % 100), valuesOf(rows, (row) => (row % 5 === 0 ? null : row % 7))],
    rows,
  });
  const host = () => engine.tableHost;
  /** What it keeps for good, and kernels, are there. */
  const liveAtFirst = async () => {
    (await groupRows(host(), keys, { nullsEqual: true, log: new PlanLog() })).destroy();
    return liveBuffers();
  };

  it("after any allocation", async () => {
    const live = await liveAtFirst();
    let most = 0;
    for (; ; most++) {
      liveBuffers();
      scarcity.after(most);
      const call = { nullsEqual: true, log: new PlanLog() };
      const result = await groupRows(host(), keys, call).catch((error: unknown) => error);
      const { tried } = scarcity;
      if (!(result instanceof Error)) (result as RowGroups).destroy();
      else expect(result).toBeInstanceOf(LimitError);
      expect(liveBuffers()).toBe(live);
      if (tried <= most) break;
      expect(result).toBeInstanceOf(LimitError);
    }
    expect(most).toBeGreaterThan(8);
  });

  it("when aborted before any chunk", async () => {
    vi.spyOn(Pacer.prototype, "next").mockReturnValue(1024);
    const live = await liveAtFirst();
    const reason = new Error("enough");
    const aborted = { nullsEqual: true, signal: AbortSignal.abort(reason) };
    await expect(groupRows(host(), keys, aborted)).rejects.toBe(reason);
    // two columns and three steps of three chunks each
    for (let chunk = 1; chunk < 15; chunk++) {
      const abort = new AbortController();
      let chunks = 0;
      const onProgress = () => ++chunks === chunk && abort.abort(reason);
      const call = groupRows(host(), keys, { nullsEqual: true, signal: abort.signal, onProgress });
      await expect(call).rejects.toBe(reason);
      expect(chunks).toBe(chunk);
    }
    expect(liveBuffers()).toBe(live);
  });

  it("when a submission fails", async () => {
    const live = await liveAtFirst();
    for (const name of ["submit", "submitAndWait"] as const) {
      const real = RowRun.prototype[name] as RowRun["submitAndWait"];
      for (let failing = 1; failing <= 3; failing++) {
        let submissions = 0;
        vi.spyOn(RowRun.prototype, name).mockImplementation(function (
          this: RowRun,
          ...submission: Parameters<RowRun["submitAndWait"]>
        ) {
          if (++submissions === failing) throw new Error("injected");
          return real.apply(this, submission);
        });
        await expect(groupRows(host(), keys, { nullsEqual: true })).rejects.toThrow("injected");
        vi.restoreAllMocks();
      }
    }
    expect(liveBuffers()).toBe(live);
  });
});

it("keys that do not fit a binding are refused before anything is done", async () => {
  const engine = await openVariant({}, (gpuDevice) => withSmallBindings(gpuDevice, 64_000));
  const acquire = vi.spyOn(engine.gpu.memory, "acquire");
  // records of 8 bytes, and of 20
  await check(
    engine,
    oneColumn(
      1,
      valuesOf(8000, (row) => row % 10),
    ),
  );
  await check(
    engine,
    oneColumn(
      4,
      valuesOf(3200, (row) => row % 10),
    ),
  );
  acquire.mockClear();
  for (const rows of [
    oneColumn(
      1,
      valuesOf(8001, (row) => row % 10),
    ),
    oneColumn(
      4,
      valuesOf(3201, (row) => row % 10),
    ),
    oneColumn(
      "strings",
      valuesOf(1000, () => 10),
    ),
  ]) {
    const error = await rejection(groupRows(engine.tableHost, keysOf(rows), rows), LimitError);
    expect(error.limit).toBe("maxStorageBufferBindingSize");
  }
  expect(acquire).not.toHaveBeenCalled();
});
