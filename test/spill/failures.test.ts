// What goes wrong around joins, group-bys and distincts within a limit of memory: that everything is closed, and what is said.
import { mkdirSync, readdirSync } from "node:fs";
import { join as joinPaths, relative } from "node:path";
import { tableFromArrays } from "@uwdata/flechette";
import { afterEach, describe, expect, it, vi } from "vitest";
import { fileModule } from "../../src/io/builtin.js";
import { readBatches } from "../../src/io/index.js";
import { makeTemporaryFolder } from "../../src/io/temporary-folder.js";
import { count, distinct, groupBy, join } from "../../src/relational/index.js";
import { SpillSession } from "../../src/spill/spill-session.js";
import { useDevice } from "../conformance/helpers/device.js";
import { temporaryFolder } from "../io/temporary.js";

const device = useDevice();
const path = temporaryFolder();
const MIB = 2 ** 20;
const table = tableFromArrays({ key: Int32Array.of(1, 2, 2) });

afterEach(() => {
  vi.restoreAllMocks();
});

/** Batches that tell whether they were closed. */
function closable(onReturn = () => {}) {
  const state = { closed: 0 };
  const batches = {
    [Symbol.iterator]: () => ({
      next: () => ({ value: table, done: false as const }),
      return: () => {
        state.closed++;
        onReturn();
        return { value: undefined, done: true as const };
      },
    }),
  };
  return { batches, state };
}

describe("inputs are closed", () => {
  const memory = { limit: MIB };

  it("when the options are wrong", async () => {
    const calls = [
      (batches: never) => distinct(batches, { on: ["kee"], memory, device: device() }),
      (batches: never) => distinct(batches, { no: 1, memory, device: device() } as never),
      (batches: never) => groupBy(batches, { by: [], aggregate: {}, no: 1, memory } as never),
    ];
    for (const call of calls) {
      const { batches, state } = closable();
      await expect(call(batches as never)).rejects.toMatchObject({ code: "VALIDATION" });
      expect(state.closed).toBe(1);
    }
    const wrong = closable();
    const noTable = {
      [Symbol.iterator]: () => ({
        ...wrong.batches[Symbol.iterator](),
        next: () => ({ value: 5, done: false }),
      }),
    };
    await expect(distinct(noTable as never, { memory, device: device() })).rejects.toThrow("not a table");
    expect(wrong.state.closed).toBe(1);
  });

  it("also where closing another one fails", async () => {
    const [left, right] = [closable(() => expect.fail("cannot be closed")), closable()];
    let told = 0;
    const options = { on: ["kee"], memory: { ...memory, onSpill: () => void told++ }, device: device() };
    await expect(join(left.batches, right.batches, options)).rejects.toThrow();
    expect([left.state.closed, right.state.closed, told]).toEqual([1, 1, 1]);
  });

  it("and an abort does not wait for a batch that never comes", async () => {
    const abort = new AbortController();
    async function* stuck() {
      yield table;
      abort.abort(new Error("enough"));
      await new Promise(() => {});
    }
    const options = { memory, device: device(), signal: abort.signal };
    await expect(join(table, stuck(), { ...options, on: ["key"] })).rejects.toThrow("enough");
    const again = new AbortController();
    async function* never() {
      again.abort(new Error("enough too"));
      await new Promise(() => {});
      yield table;
    }
    const by = { ...options, signal: again.signal, by: ["key"], aggregate: { rows: count() } };
    await expect(groupBy(never(), by)).rejects.toThrow("enough too");
  });
});

describe("a temporary folder", () => {
  function empty(name: string): string {
    mkdirSync(path(name));
    return path(name);
  }

  it("of a process whose begin cannot be read stays", async () => {
    const place = empty("unknown");
    const own = await makeTemporaryFolder(place);
    const files = fileModule("node:fs/promises");
    const { readFile } = files;
    vi.spyOn(files, "readFile").mockImplementation((async (name: string, encoding: "utf8") => {
      if (!name.startsWith("/proc/")) return readFile(name, encoding);
      throw Object.assign(new Error("EMFILE"), { code: "EMFILE", syscall: "open" });
    }) as never);
    const other = await makeTemporaryFolder(place);
    expect(readdirSync(place)).toHaveLength(2);
    expect(other.path).toContain(`-${process.pid}-0-`);
    vi.restoreAllMocks();
    const third = await makeTemporaryFolder(place);
    expect(readdirSync(place)).toHaveLength(3);
    for (const folder of [own, other, third]) await folder.remove();
    expect(readdirSync(place)).toEqual([]);
  });

  it("of another machine of the same name has another name", async () => {
    const place = empty("machines");
    const files = fileModule("node:fs/promises");
    const { readFile } = files;
    const names: string[] = [];
    for (const id of ["one", "two"]) {
      vi.spyOn(files, "readFile").mockImplementation((async (name: string, encoding: "utf8") =>
        name === "/etc/machine-id" ? id : readFile(name, encoding)) as never);
      const made = await makeTemporaryFolder(place);
      names.push(made.path.slice(joinPaths(place, "warpmap-spill-").length).slice(0, 8));
      await made.remove();
      vi.restoreAllMocks();
    }
    expect(names[0]).not.toBe(names[1]);
  });

  it("is named from the root on", async () => {
    const place = empty("relative");
    const made = await makeTemporaryFolder(relative(process.cwd(), place));
    expect(made.path.startsWith(place)).toBe(true);
    await made.remove();
    expect(readdirSync(place)).toEqual([]);
  });

  it("that cannot be removed is no error of a call that is done", async () => {
    const place = empty("stays");
    let told = 0;
    const session = new SpillSession({ limit: MIB, folder: place, onSpill: () => void told++ }, undefined);
    await session.newPath();
    const rm = vi
      .spyOn(fileModule("node:fs/promises"), "rm")
      .mockRejectedValue(Object.assign(new Error("EBUSY"), { code: "EBUSY", syscall: "rm" }));
    await session.close();
    expect(rm).toHaveBeenCalledTimes(1);
    expect(told).toBe(1);
  });
});

describe("a stream that is put into a temporary file", () => {
  const read = (stream: AsyncIterable<Uint8Array>, folder?: string) =>
    readBatches(stream, { format: "csv", name: "the page", folder }).next();

  it("and breaks off is an error of the stream", async () => {
    async function* broken() {
      yield new TextEncoder().encode("a,b\n1,");
      throw new Error("the network is down");
    }
    await expect(read(broken())).rejects.toThrow("the page: cannot be read (the network is down). Check");
  });

  it("needs a folder that is there, and Node", async () => {
    async function* whole() {
      yield new TextEncoder().encode("a,b\n1,2\n");
    }
    const folder = path("not there");
    await expect(read(whole(), folder)).rejects.toThrow(`${folder}: no such file or directory.`);
    vi.spyOn(process, "getBuiltinModule").mockReturnValue(undefined as never);
    await expect(read(whole())).rejects.toThrow("needs temporary files, which only Node has");
    const session = new SpillSession({ limit: MIB }, undefined);
    await expect(session.guard(() => session.newPath())).rejects.toThrow("which only Node has");
  });
});
