/** Operators take turns on a device: few work at once, in the order of their calls, and none waits for one that waits for it. */
import { describe, expect, it } from "vitest";
import { type Device, openDevice, StaticMap, ValidationError } from "../../src/index.js";
import {
  count,
  distinct,
  dropDuplicates,
  GroupBy,
  groupBy,
  isIn,
  JoinIndex,
  join,
  sum,
  valueCounts,
} from "../../src/relational/index.js";
import { rejection } from "../conformance/helpers/checks.js";

const rows = (n: number) => ({
  id: Uint32Array.from({ length: n }, (_, i) => i % 97),
  x: new Float64Array(n).fill(1),
});
const small = rows(200);
const aggregate = { n: count() };
const by = ["id"] as const;

async function opened(concurrency?: number): Promise<Device> {
  return openDevice({ backend: "cpu", threads: 1, ...(concurrency !== undefined && { concurrency }) });
}

it("concurrency is a whole number of at least 1", async () => {
  for (const concurrency of [0, -1, 1.5, "2", null, Number.NaN]) {
    await rejection(openDevice({ backend: "cpu", concurrency: concurrency as never }), ValidationError);
  }
  using device = await opened(3);
  expect(device.concurrency).toBe(3);
  using other = await opened();
  expect(other.concurrency).toBe(2);
});

it("the first of many answers first, and all in the order of their calls", async () => {
  using device = await opened(1);
  const ended: number[] = [];
  const call = () => join(small, small, { on: ["id"], device });
  await Promise.all(Array.from({ length: 25 }, (_, i) => call().then(() => ended.push(i))));
  expect(ended).toEqual(ended.toSorted((a, b) => a - b));
});

it("no more work at once than concurrency says, and as many do", async () => {
  for (const concurrency of [1, 3]) {
    using device = await opened(concurrency);
    let most = 0;
    let now = 0;
    const operations = await device.engine.rows();
    const { match } = operations;
    operations.match = async (...args) => {
      most = Math.max(most, ++now);
      try {
        await new Promise((resolve) => setTimeout(resolve, 1));
        return (await match.apply(operations, args)) as never;
      } finally {
        now--;
      }
    };
    await Promise.all(Array.from({ length: 10 }, () => join(small, small, { on: ["id"], device })));
    expect(most).toBe(concurrency);
  }
});

describe("calls that work in parts end one after another", () => {
  const memory = { limit: 2 ** 20 };
  const large = rows(24_000);
  /** Tells of each batch that is read. */
  async function* told(read: () => void) {
    const each = large.id.length / 12;
    for (let i = 0; i < 12; i++) {
      read();
      yield {
        id: large.id.subarray(i * each, (i + 1) * each),
        x: large.x.subarray(i * each, (i + 1) * each),
      };
    }
  }
  const calls: Record<string, (device: Device, read: () => void) => Promise<unknown>> = {
    "group-bys within memory": (device, read) => groupBy(told(read), { by, aggregate, memory, device }),
    "distincts within memory": (device, read) => distinct(told(read), { on: by, memory, device }),
    "joins within memory": (device, read) =>
      join(told(read), { id: [3] }, { on: ["id"], how: "left", memory, device }),
    "joins in partitions": (device, read) =>
      join(told(read), large, { on: ["id"], how: "semi", memory, device }),
    "group-bys of batches": (device, read) => groupBy(told(read), { by, aggregate, device }),
    "batches of joins": async (device, read) => {
      for await (const _ of join(large, { id: [3] }, { on: ["id"], how: "left", device }).batches({
        maxBytes: 2 ** 15,
      }))
        read();
    },
  };
  for (const [name, call] of Object.entries(calls)) {
    it(name, async () => {
      using device = await opened(1);
      const reads = new Array(6).fill(0);
      const ended: number[] = [];
      let lastHadRead = 0;
      const work = reads.map(async (_, i) => {
        await call(device, () => reads[i]++);
        ended.push(i);
        if (i === 0) lastHadRead = reads[5];
      });
      await Promise.all(work);
      expect(ended).toEqual([0, 1, 2, 3, 4, 5]);
      expect(lastHadRead).toBeLessThan(reads[5] / 2);
    });
  }

  it("and a call whose input never ends does not hold up the others for good", async () => {
    using device = await opened(1);
    let isDone = false;
    let read = 0;
    let begun!: () => void;
    const isBusy = new Promise<void>((resolve) => {
      begun = resolve;
    });
    async function* endless() {
      while (!isDone && ++read < 2000) {
        if (read === 30) begun();
        yield small;
      }
    }
    const work = [1, 2, 3].map(() => groupBy(endless(), { by, aggregate, device }).then());
    await isBusy;
    expect((await groupBy(small, { by, aggregate, device })).numRows).toBe(97);
    isDone = true;
    expect(read).toBeLessThan(1000);
    await Promise.all(work);
  });

  it("and an abort is heard at once while a part waits", async () => {
    using device = await opened(1);
    const controller = new AbortController();
    const reason = new Error("enough");
    const { signal } = controller;
    let read!: () => void;
    const isRead = new Promise<void>((resolve) => {
      read = resolve;
    });
    const first = groupBy(
      told(() => {}),
      { by, aggregate, memory, device },
    ).then(({ numRows }) => numRows);
    const waiting = join(told(read), large, { on: ["id"], memory, device, signal });
    const refused = expect(waiting).rejects.toBe(reason);
    await isRead;
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(reason);
    await refused;
    expect(await first).toBe(97);
    expect((await groupBy(small, { by, aggregate, device })).numRows).toBe(97);
  });
});

it("calls on containers pass operators that wait", async () => {
  using device = await opened(1);
  using map = await StaticMap.create(device, { key: "u32", value: "u32", capacity: 100 });
  let answered = 0;
  const joins = Array.from({ length: 20 }, () =>
    join(rows(3000), small, { on: ["id"], device }).then(() => answered++),
  );
  await map.insert(small.id.slice(0, 50), small.id.slice(0, 50));
  expect(answered).toBeLessThan(20);
  await Promise.all(joins);
});

it("an abort is heard at once while a call waits, and the others go on", async () => {
  using device = await opened(1);
  const controller = new AbortController();
  const ended: string[] = [];
  const first = join(small, small, { on: ["id"], device }).then(() => ended.push("first"));
  const reason = new Error("enough");
  const waiting = join(small, small, { on: ["id"], device, signal: controller.signal }).catch((error) => {
    ended.push("aborted");
    throw error;
  });
  const last = groupBy(small, { by, aggregate, device }).then(() => ended.push("last"));
  await new Promise((resolve) => setImmediate(resolve));
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  await Promise.all([first, last]);
  expect(ended.toSorted()).toEqual(["aborted", "first", "last"]);
  expect((await groupBy(small, { by, aggregate, device })).numRows).toBe(97);
});

it("a call that fails gives its turn on", async () => {
  using device = await opened(1);
  const wrong = () =>
    join(small, small, { on: ["id"], where: { columns: ["x"], test: () => 1 as never }, device });
  for (let i = 0; i < 3; i++) await rejection(wrong() as Promise<unknown>, ValidationError);
  expect((await groupBy(small, { by, aggregate, device })).numRows).toBe(97);
});

describe("operators that read what others make do not wait for each other", () => {
  /** Batches that are made with the device while they are read. */
  async function* batches(device: Device) {
    for (let i = 0; i < 3; i++) yield await distinct(small, { on: ["id"], device });
  }
  const calls: Record<string, (device: Device) => Promise<unknown>> = {
    "a join of joins": (device) => {
      const inner = () => join(small, small, { on: ["id"], select: ["id"], device });
      return join(inner(), inner(), { on: ["id"], how: "semi", device });
    },
    "a group-by of a join": (device) =>
      groupBy(join(small, small, { on: ["id"], device }), { by, aggregate: { s: sum("x") }, device }),
    "a group-by of a group-by": (device) =>
      groupBy(groupBy(small, { by, aggregate, device }), {
        by: ["n"],
        aggregate: { groups: count() },
        device,
      }),
    "batches of operators": (device) => groupBy(batches(device), { by, aggregate, device }),
    "a distinct of such": (device) => distinct(batches(device), { device }),
    "a join of such": (device) => join(batches(device), small, { on: ["id"], device }),
    "a join within memory": (device) =>
      join(batches(device), batches(device), { on: ["id"], device, memory: { limit: 2 ** 22 } }),
    "a group-by within memory": (device) =>
      groupBy(batches(device), { by, aggregate, device, memory: { limit: 2 ** 22 } }),
    "the batches of a join, read with the device": async (device) => {
      const read = join(small, small, { on: ["id"], device }).batches({ maxBytes: 4096 });
      for await (const batch of read) await groupBy(batch, { by, aggregate, device });
    },
    "a join's batches that are left": async (device) => {
      for await (const _ of join(small, small, { on: ["id"], device }).batches({ maxBytes: 4096 })) break;
    },
    "GroupBys that are merged while they work": async (device) => {
      const [a, b] = [0, 1].map(() => new GroupBy({ by, aggregate, device }));
      const work = [a.add(small), b.add(small), a.merge(b), b.add(small), a.finish()];
      return Promise.all(work);
    },
    "an index": async (device) => {
      const index = await JoinIndex.create(device, small, { on: ["id"] });
      const probes = Array.from({ length: 5 }, () => index.join(small));
      for await (const joined of index.joinAll(batches(device), { how: "full" }))
        await distinct(joined, { device });
      await Promise.all([...probes, join(small, small, { on: ["id"], device }).count()]);
      index.destroy();
    },
    "of every kind": (device) =>
      Promise.all([
        isIn(small.id, small.id, { device }),
        dropDuplicates(small, { device }),
        distinct(small, { device }),
        join(small, small, { on: ["id"], device }).count(),
      ]),
    "counts of values": (device) => valueCounts(join(small, small, { on: ["id"], device }), "id", { device }),
    "on the device": async (device) => {
      const there = await device.uploadTable(small);
      const made = await groupBy(join(there, there, { on: ["id"], device }), {
        by,
        aggregate,
        output: "device",
      });
      await distinct(made, { output: "device" });
    },
  };
  for (const [name, call] of Object.entries(calls)) {
    it(name, async () => {
      using device = await opened(1);
      await Promise.all([call(device), call(device), call(device)]);
    });
  }
});
