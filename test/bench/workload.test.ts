// Columns and checks of a workload: a GPU's are the host's, and a check sees one wrong element.
import { describe, expect, it } from "vitest";
import { openBatches } from "../../bench/batches.js";
import { type KeyColumn, openWorkload, Workload } from "../../bench/static-map-workload.js";
import { type Device, type DeviceArray, openDevice } from "../../src/index.js";

const MISSING = 0xabad1dea;
const columns = ["keys", "lookups", "absent", "half"] as const;

async function onGpu(size: number, use: (device: Device, workload: Workload) => Promise<void>) {
  using device = await openDevice({ backend: "webgpu", software: true });
  await use(device, new Workload(size));
}

it.each([1, 2, 255, 4097])("makes the host's columns of %i keys on a GPU", async (size) => {
  await onGpu(size, async (device, workload) => {
    using made = await openWorkload(device, workload);
    for (const column of columns) {
      expect(await (await made[column]()).read(), column).toEqual(workload.column(column));
    }
    expect(await (await made.values()).read()).toEqual(workload.values());
    expect(await (await made.odd()).read()).toEqual(workload.odd());
  });
});

it("makes the host's columns of 64-bit keys on a GPU, and sees one wrong word", async () => {
  using device = await openDevice({ backend: "webgpu", software: true });
  const workload = new Workload(300, "u64");
  using made = await openWorkload(device, workload);
  for (const column of columns) {
    expect(await (await made[column]()).read(), column).toEqual(workload.column(column));
  }
  expect(await (await made.values()).read()).toEqual(workload.values());
  const missing = (BigInt(MISSING) << 32n) | BigInt(MISSING);
  const numbers = Array.from({ length: 300 }, (_, i) => workload.numberAt("half", i));
  const right = BigUint64Array.from(numbers, (number) => {
    return number < 300 ? BigInt(number) | (BigInt(~number >>> 0) << 32n) : missing;
  });
  const found = await device.upload(Uint8Array.from(numbers, (number) => Number(number < 300)));
  for (const at of [0, 1, 298, 299]) {
    for (const bit of [0n, 1n, 1n << 32n]) {
      using values = await device.upload(right.with(at, right[at] ^ bit));
      const verdict = await made.gpu?.checkFound("half", "all", { values, found });
      expect(verdict).toMatchObject(bit === 0n ? { wrong: 0 } : { wrong: 1, first: at });
    }
  }
});

it.each(["cpu", "webgpu"] as const)("makes batches on %s", async (backend) => {
  using device = await openDevice({ backend, software: backend === "webgpu" });
  using made = await openBatches(device, 1000, 300);
  const workload = new Workload(1000);
  const [keys, values]: number[][] = [[], []];
  for (const batch of made.batches) {
    keys.push(...(await batch.keys.read()));
    values.push(...(await batch.values.read()));
  }
  expect(made.batches.map((batch) => batch.keys.length)).toEqual([300, 300, 300, 100]);
  expect(Uint32Array.from(keys)).toEqual(workload.keys());
  expect(Uint32Array.from(values)).toEqual(workload.values());
});

describe("a check on a GPU", () => {
  const size = 1000;

  it("sees one wrong element of what find answered", async () => {
    await onGpu(size, async (device, workload) => {
      using made = await openWorkload(device, workload);
      for (const column of ["lookups", "absent", "half"] as const) {
        for (const present of ["none", "even", "all"] as const) {
          const right = answerOf(workload, column, present);
          const verdict = async (values: Uint32Array, found: Uint8Array) => {
            using answer = await uploadAnswer(device, values, found);
            return await made.gpu?.checkFound(column, present, answer);
          };
          expect(await verdict(right.values, right.found)).toMatchObject({ wrong: 0 });
          const values = right.values.with(size - 1, right.values[size - 1] ^ 1);
          expect(await verdict(values, right.found)).toEqual({ wrong: 1, first: size - 1 });
          const found = right.found.with(501, 1 - right.found[501]);
          expect(await verdict(right.values, found)).toEqual({ wrong: 1, first: 501 });
        }
      }
    });
  });

  it("sees a pair that is wrong, and one that comes twice", async () => {
    await onGpu(size, async (device, workload) => {
      using made = await openWorkload(device, workload);
      const verdict = async (keys: Uint32Array, values: Uint32Array) => {
        using columns = await uploadPairs(device, keys, values);
        return await made.gpu?.checkPairs(columns);
      };
      const [keys, values] = [workload.keys(), workload.values()];
      expect(await verdict(keys, values)).toMatchObject({ wrong: 0 });
      expect(await verdict(keys.with(7, keys[7] ^ 1), values)).toEqual({ wrong: 1, first: 7 });
      expect(await verdict(keys, values.with(7, size))).toEqual({ wrong: 1, first: 7 });
      expect(await verdict(keys.with(7, keys[8]), values.with(7, 8))).toMatchObject({ wrong: 1 });
    });
  });
});

function answerOf(workload: Workload, column: KeyColumn, present: "none" | "even" | "all") {
  const values = new Uint32Array(workload.size);
  const found = new Uint8Array(workload.size);
  for (let i = 0; i < workload.size; i++) {
    const number = workload.numberAt(column, i);
    const there = number < workload.size && (present === "all" || (present === "even" && number % 2 === 0));
    values[i] = there ? number : MISSING;
    found[i] = there ? 1 : 0;
  }
  return { values, found };
}

async function uploadAnswer(device: Device, values: Uint32Array, found: Uint8Array) {
  return disposable({ values: await device.upload(values), found: await device.upload(found) });
}

async function uploadPairs(device: Device, keys: Uint32Array, values: Uint32Array) {
  return disposable({ keys: await device.upload(keys), values: await device.upload(values) });
}

function disposable<T extends Record<string, DeviceArray>>(arrays: T): T & Disposable {
  return Object.assign(arrays, {
    [Symbol.dispose]: () => {
      for (const array of Object.values(arrays)) array.destroy();
    },
  });
}
