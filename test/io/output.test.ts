// Files that are written: whole or not at all, one call's alone, and read by nobody who may not read what they replace.
import {
  chmodSync,
  chownSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { tableToBytes, writeTable } from "../../src/io/index.js";
import { checkWritable, replaceFile } from "../../src/io/output.js";
import { makeTemporaryFolder } from "../../src/io/temporary-folder.js";
import { rounds } from "../helpers/rounds.js";
import { temporaryFolder } from "./temporary.js";

const path = temporaryFolder();
const table = { a: [1, 2] };
const TEXT = "a\n1\n2\n";
const bytes = (text: string) => new TextEncoder().encode(text);
const onUnix = process.platform !== "win32";

afterEach(() => {
  vi.restoreAllMocks();
});

/** A folder of its own, and what is in it by a name that only temporary files have. */
function place(name: string) {
  mkdirSync(path(name));
  const at = (file: string) => join(path(name), file);
  return { at, temporaries: () => readdirSync(path(name)).filter((file) => file.endsWith(".tmp")) };
}

describe("two calls that write to one path", () => {
  it("each leave a whole file, the last one its own", async () => {
    const { at, temporaries } = place("two");
    let resume = () => {};
    const waits = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const slow = async function* () {
      yield bytes("slow ");
      await waits;
      yield bytes("and whole");
    };
    const first = replaceFile(at("x"), slow());
    await replaceFile(at("x"), [bytes("quick "), bytes("and whole")]);
    expect([readFileSync(at("x"), "utf8"), temporaries().length]).toEqual(["quick and whole", 1]);
    resume();
    await first;
    expect([readFileSync(at("x"), "utf8"), temporaries()]).toEqual(["slow and whole", []]);
  });

  it.each(["csv", "parquet", "arrow"] as const)("leave one of two tables: %s", async (format) => {
    const { at } = place(`tables-${format}`);
    const tables = [30_000, 20_000].map((rows, i) => ({
      id: Int32Array.from({ length: rows }, (_, row) => row),
      s: Array.from({ length: rows }, () => "ab"[i].repeat(8)),
    }));
    const wanted = await Promise.all(tables.map((each) => tableToBytes(each, { format })));
    for (let round = 0; round < rounds(2); round++) {
      await Promise.all(tables.map((each) => writeTable(at(`x.${format}`), each)));
      const got = readFileSync(at(`x.${format}`));
      expect(wanted.some((each) => Buffer.compare(got, each) === 0)).toBe(true);
    }
  });

  it("in two threads of a process use two temporary files", async () => {
    const { at, temporaries } = place("threads");
    const program = `
      const { parentPort, workerData } = require("node:worker_threads");
      import(workerData.module).then(async ({ writeTable }) => {
        const many = function* () {
          for (let i = 0; i < 40; i++) yield { a: new Array(2000).fill(workerData.value) };
        };
        await writeTable(workerData.path, many());
        parentPort.close();
      });`;
    const module = new URL("../../dist/io/index.js", import.meta.url).href;
    const ends = [1, 2].map((value) => {
      const worker = new Worker(program, { eval: true, workerData: { module, value, path: at("x.csv") } });
      return new Promise((resolve, reject) => worker.on("exit", resolve).on("error", reject));
    });
    expect(await Promise.all(ends)).toEqual([0, 0]);
    const lines = readFileSync(at("x.csv"), "utf8").trimEnd().split("\n");
    expect([lines.length, new Set(lines).size, temporaries()]).toEqual([80_001, 2, []]);
  });
});

describe("a temporary file", () => {
  it("takes no name that is taken, and leaves alone what has it", async () => {
    const { at } = place("planted");
    writeFileSync(at("victim"), "precious");
    vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => array); // all 0
    const name = at(`.warpmap-${"00".repeat(16)}.tmp`);
    symlinkSync(at("victim"), name);
    await expect(writeTable(at("x.csv"), table)).rejects.toMatchObject({ code: "FILE", path: at("x.csv") });
    expect([readFileSync(at("victim"), "utf8"), readlinkSync(name)]).toEqual(["precious", at("victim")]);
    const folder = place("planted folder");
    const same = folder.at(`.warpmap-${"00".repeat(16)}.tmp`);
    mkdirSync(same);
    writeFileSync(join(same, "kept"), "precious");
    await expect(writeTable(folder.at("x.csv"), table)).rejects.toMatchObject({ code: "FILE" });
    expect(readFileSync(join(same, "kept"), "utf8")).toBe("precious");
    expect(readdirSync(path("planted folder")).length).toBe(1);
  });

  it("has a name by chance", async () => {
    const { at, temporaries } = place("chance");
    const names = new Set<string>();
    const looked = function* () {
      yield bytes("a");
      for (const name of temporaries()) names.add(name);
    };
    for (let i = 0; i < 3; i++) await replaceFile(at("x"), looked());
    expect(names.size).toBe(3);
    for (const name of names) expect(name).toMatch(/^\.warpmap-[0-9a-f]{32}\.tmp$/);
  });

  // Windows has no such permissions
  it.runIf(onUnix)(
    "can be read by those alone who may read what it replaces, from its first byte",
    async () => {
      const { at, temporaries } = place("modes");
      for (const mode of [0o600, 0o640, 0o444, 0o664]) {
        writeFileSync(at("x"), "old");
        chmodSync(at("x"), mode);
        const seen: number[] = [];
        const looked = function* () {
          for (const text of ["new ", "text"]) {
            for (const name of temporaries()) seen.push(statSync(at(name)).mode & 0o777);
            yield bytes(text);
          }
        };
        await replaceFile(at("x"), looked());
        expect([...new Set(seen)]).toEqual([mode]);
        expect([statSync(at("x")).mode & 0o777, readFileSync(at("x"), "utf8")]).toEqual([mode, "new text"]);
        chmodSync(at("x"), 0o600);
      }
      writeFileSync(at("fresh"), "");
      await writeTable(at("new.csv"), table);
      expect(statSync(at("new.csv")).mode).toBe(statSync(at("fresh")).mode);
    },
  );

  // others may not give files away
  it.runIf(process.getuid?.() === 0)("belongs to the owner of what it replaces", async () => {
    const { at } = place("owners");
    writeFileSync(at("x.csv"), "old");
    chownSync(at("x.csv"), 12_345, 23_456);
    chmodSync(at("x.csv"), 0o640);
    await writeTable(at("x.csv"), table);
    const { uid, gid, mode } = statSync(at("x.csv"));
    expect([uid, gid, mode & 0o777]).toEqual([12_345, 23_456, 0o640]);
  });

  it("goes when the write fails", async () => {
    const { at, temporaries } = place("failing");
    writeFileSync(at("x"), "old");
    const failing = function* () {
      yield bytes("half");
      expect(temporaries().length).toBe(1);
      throw new Error("no more");
    };
    await expect(replaceFile(at("x"), failing())).rejects.toThrow("no more");
    expect([readFileSync(at("x"), "utf8"), temporaries()]).toEqual(["old", []]);
  });
});

describe("names and links", () => {
  it.each([
    ["a relative link", "link.csv", [["link.csv", "nowhere.csv"]]],
    ["a link to another folder", "link.csv", [["link.csv", "sub/nowhere.csv"]]],
    [
      "links behind each other",
      "link.csv",
      [
        ["link.csv", "second"],
        ["second", "nowhere.csv"],
      ],
    ],
    [
      "a link back out of a folder that is a link",
      "door/link.csv",
      [
        ["door", "sub/deep"],
        ["sub/deep/link.csv", "../nowhere.csv"],
      ],
    ],
  ] as const)("%s that leads nowhere stays, and the file is where it leads", async (name, link, links) => {
    const { at, temporaries } = place(name);
    mkdirSync(at("sub/deep"), { recursive: true });
    for (const [from, to] of links) symlinkSync(to, at(from));
    await checkWritable(at(link));
    for (let i = 0; i < 2; i++) {
      await writeTable(at(link), table);
      expect([readFileSync(at(link), "utf8"), lstatSync(at(link)).isSymbolicLink()]).toEqual([TEXT, true]);
    }
    const file = ["nowhere.csv", "sub/nowhere.csv"].find((each) => readdirAll(at("")).includes(each));
    expect(lstatSync(at(file as string)).isFile()).toBe(true);
    expect(temporaries()).toEqual([]);
  });

  it("an absolute link that leads nowhere stays too; one into no folder, or to itself, is an error", async () => {
    const { at } = place("absolute");
    symlinkSync(at("nowhere.csv"), at("link.csv"));
    await writeTable(at("link.csv"), table);
    expect(readFileSync(at("nowhere.csv"), "utf8")).toBe(TEXT);
    symlinkSync("no/such.csv", at("lost.csv"));
    symlinkSync("loop.csv", at("loop.csv"));
    for (const [link, problem] of [
      ["lost.csv", /lost\.csv: no such file or directory/],
      ["loop.csv", /loop\.csv: symbolic links lead back to themselves/],
    ] as const) {
      await expect(writeTable(at(link), table)).rejects.toThrow(problem);
      await expect(checkWritable(at(link))).rejects.toThrow(problem);
      expect(lstatSync(at(link)).isSymbolicLink()).toBe(true);
    }
  });

  it("names have up to 255 bytes", async () => {
    const { at } = place("long names");
    for (const name of [`${"a".repeat(251)}.csv`, `${"ä".repeat(125)}.csv`]) {
      await writeTable(at(name), table);
      expect(readFileSync(at(name), "utf8")).toBe(TEXT);
    }
    const longer = at(`${"a".repeat(252)}.csv`);
    await expect(writeTable(longer, table)).rejects.toThrow(
      /the name is too long\. Name it in at most 255 bytes/,
    );
    await expect(checkWritable(longer)).rejects.toThrow(/the name is too long/);
    expect(readdirSync(path("long names")).length).toBe(2);
  });
});

function readdirAll(folder: string): string[] {
  return readdirSync(folder, { recursive: true }).map(String);
}

describe("folders of temporary files", () => {
  it.runIf(onUnix)("are for their owner alone", async () => {
    const folder = await makeTemporaryFolder(path(""));
    expect(statSync(folder.path).mode & 0o777).toBe(0o700);
    await folder.remove();
  });

  it.runIf(onUnix)("are left alone where others could have made them, and links too", async () => {
    const { at } = place("shared");
    const own = await makeTemporaryFolder(at(""));
    const [, machine] = /warpmap-spill-([0-9a-f]{8})-/.exec(own.path) as unknown as string[];
    const [open, link, gone] = ["opened", "linked", "killed"].map((end) =>
      at(`warpmap-spill-${machine}-${2 ** 22 + 1}-1-${end}`),
    );
    mkdirSync(at("precious"));
    writeFileSync(at("precious/kept"), "");
    symlinkSync(at("precious"), link);
    for (const folder of [open, gone]) mkdirSync(folder);
    chmodSync(open, 0o777);
    const other = await makeTemporaryFolder(at(""));
    const left = readdirAll(at("")).map((name) => at(name));
    expect(left).toEqual(expect.arrayContaining([open, link, own.path, other.path, at("precious/kept")]));
    expect(left).not.toContain(gone);
    await own.remove();
    await other.remove();
  });
});
