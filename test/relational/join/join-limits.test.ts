/** A join whose pairs find no memory says what helps a join, not what helps a table. */
import { expect, it, vi } from "vitest";
import { type Device, LimitError, openDevice } from "../../../src/index.js";
import { join } from "../../../src/relational/index.js";

/** A device on which the pairs of a join are refused with `error`. */
async function refusing(error: Error): Promise<Device> {
  const device = await openDevice({ backend: "cpu", threads: 1 });
  const rows = await device.engine.rows();
  const refuse = () => Promise.reject(error);
  vi.spyOn(device.engine, "rows").mockResolvedValue(Object.assign(Object.create(rows), { match: refuse }));
  return device;
}

const side = { id: [1, 1, 2] };

it("of too little memory", async () => {
  const cause = new LimitError("memory", 3_000, 2_000, "Use a smaller capacity.");
  const device = await refusing(cause);
  const error = await join(side, side, { on: ["id"], device }).then(
    () => expect.unreachable(),
    (error) => error,
  );
  expect(error).toBeInstanceOf(LimitError);
  expect(error).toMatchObject({ limit: "memory", need: 3_000, have: 2_000, cause });
  expect(error.fix).toMatch(/Join on more columns.*batches\(\).*count\(\)/);
  device.destroy();
});

it.each([new LimitError("rows", 3_000, 2_000, "Join fewer rows."), new Error("other")])(
  "leaves other errors: %s",
  async (other) => {
    const device = await refusing(other);
    await expect(join(side, side, { on: ["id"], device })).rejects.toBe(other);
    device.destroy();
  },
);
