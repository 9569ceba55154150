// What all exchanges do: one suite on a folder and on S3.
import { readdirSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openExchange } from "../../packages/cluster/src/exchange/open-exchange.js";
import type { Exchange } from "../../packages/cluster/src/exchange.js";
import {
  bytes,
  failureOf,
  listed,
  MIB,
  pattern,
  serverOfS3,
  temporaryFolder,
  text,
} from "./exchange-helpers.js";
import { refuse } from "./s3-server.js";

const path = temporaryFolder();
const s3 = serverOfS3();
let count = 0;

describe.each(["folder", "s3"] as const)("an exchange: %s", (kind) => {
  let exchange: Exchange;
  beforeEach(async () => {
    const name = `x${count++}`;
    exchange = await openExchange(kind === "folder" ? path(name) : `s3://bucket/deep/${name}`);
  });
  afterEach(() => exchange.close());

  it("says its URL, which opens it again", async () => {
    expect(exchange.url).toMatch(kind === "folder" ? /^file:\/\/\/.*\/x\d+$/ : /^s3:\/\/bucket\/deep\/x\d+$/);
    await exchange.write("a", [bytes("seen")]);
    const again = await openExchange(exchange.url);
    expect([again.url, text(await again.read("a"))]).toEqual([exchange.url, "seen"]);
    await again.close();
  });

  it("writes pieces in order, and tells how many bytes they have", async () => {
    const pieces = async function* () {
      yield bytes("one ");
      yield bytes("");
      yield bytes("two");
    };
    expect(await exchange.write("run/part-0", pieces())).toBe(7);
    expect(await exchange.write("run/part-1", [bytes("three")])).toBe(5);
    expect(await exchange.write("run/none", [])).toBe(0);
    expect(text(await exchange.read("run/part-0"))).toBe("one two");
    expect(text(await exchange.read("run/part-1"))).toBe("three");
    expect(await exchange.read("run/none")).toEqual(new Uint8Array(0));
  });

  it("takes pieces that their maker writes to again", async () => {
    const piece = new Uint8Array(3);
    const pieces = function* () {
      for (let i = 1; i <= 3; i++) yield piece.fill(i);
    };
    await exchange.write("a", pieces());
    expect([...(await exchange.read("a"))]).toEqual([1, 1, 1, 2, 2, 2, 3, 3, 3]);
  });

  it("reads ranges", async () => {
    await exchange.write("a", [bytes("0123456789")]);
    expect(text(await exchange.read("a", 2, 5))).toBe("234");
    expect(text(await exchange.read("a", 0, 1))).toBe("0");
    expect(text(await exchange.read("a", 7))).toBe("789");
    expect(text(await exchange.read("a", 0, 10))).toBe("0123456789");
    expect(text(await exchange.read("a", 4, 4))).toBe("");
    expect(text(await exchange.read("a", 10))).toBe("");
    expect(text(await exchange.read("a", 10, 10))).toBe("");
    const whole = await exchange.read("a");
    expect([whole.byteOffset, whole.buffer.byteLength]).toEqual([0, 10]); // views of other types may lie on it
  });

  it.each([
    [0, 11],
    [9, 12],
    [10, 11],
    [11, 11],
    [11, undefined],
    [20, 30],
  ])("refuses bytes %s to %s of a file with ten", async (from, to) => {
    await exchange.write("a", [bytes("0123456789")]);
    const error = await failureOf(exchange.read("a", from, to));
    expect(error.reason).toBe("EXCHANGE_FILE");
    expect(error.problem).toMatch(/"a" in .* has 10 bytes|are no range/);
  });

  it.each([
    [-1, 4],
    [3, 2],
    [0.5, 1],
    [0, Number.NaN],
  ])("refuses a range that is none: %s to %s", async (from, to) => {
    await exchange.write("a", [bytes("0123456789")]);
    expect((await failureOf(exchange.read("a", from, to))).reason).toBe("EXCHANGE_FILE");
  });

  it("says which file is not there", async () => {
    await exchange.write("there/a", [bytes("a")]);
    for (const range of [[], [0, 0], [1, 2], [1]]) {
      const error = await failureOf(exchange.read("gone/b", ...range));
      expect([error.reason, error.problem.includes('no file "gone/b"')]).toEqual(["EXCHANGE_FILE", true]);
    }
    for (const none of ["there", "there/a/x"]) {
      expect((await failureOf(exchange.read(none))).reason).toBe("EXCHANGE_FILE");
    }
  });

  it("shows a file only when it is whole", async () => {
    let seen: string[] = ["none looked"];
    const pieces = async function* () {
      yield pattern(9 * MIB);
      yield pattern(9 * MIB);
      seen = await listed(exchange);
      await failureOf(exchange.read("a/b"));
      yield bytes("end");
    };
    expect(await exchange.write("a/b", pieces())).toBe(18 * MIB + 3);
    expect([seen, await listed(exchange)]).toEqual([[], ["a/b"]]);
  });

  it.each([0, 1, 20 * MIB])("keeps nothing of a writer that fails after %i bytes", async (length) => {
    const reason = new Error("the writer's own");
    const pieces = async function* () {
      yield pattern(length);
      throw reason;
    };
    await expect(exchange.write("a/b", pieces())).rejects.toBe(reason);
    expect(await listed(exchange)).toEqual([]);
    if (kind === "folder") expect(readdirSync(new URL(`${exchange.url}/a`))).toEqual([]);
    else expect(s3().openUploads("bucket")).toEqual([]);
  });

  it("ends the writer's generator when a file cannot be written", async () => {
    let ended = false;
    const pieces = function* () {
      try {
        for (let i = 0; i < 8; i++) yield pattern(9 * MIB);
      } finally {
        ended = true;
      }
    };
    if (kind === "folder") writeFileSync(new URL(`${exchange.url}/a`), "no folder");
    s3().intercept = (request, response) => {
      if (!/partNumber=2/.test(request.url ?? "")) return false;
      refuse(request, response, 403, "AccessDenied");
      return true;
    };
    const error = await failureOf(exchange.write("a/b", pieces()));
    expect(error.reason).toBe("EXCHANGE");
    if (kind === "s3")
      expect([ended, error.problem]).toEqual([true, expect.stringMatching(/access is denied/)]);
    expect(s3().openUploads("bucket")).toEqual([]);
  });

  it.each([8 * MIB - 1, 8 * MIB, 8 * MIB + 1, 20 * MIB + 7])("writes %i bytes", async (length) => {
    const all = pattern(length);
    const pieces = function* () {
      for (let at = 0; at < length; at += 777_777) yield all.subarray(at, at + 777_777);
    };
    expect(await exchange.write("large", pieces())).toBe(length);
    expect(Buffer.compare(await exchange.read("large"), all)).toBe(0);
    const [from, to] = [length - 3 * MIB, length - 5];
    expect(Buffer.compare(await exchange.read("large", from, to), all.subarray(from, to))).toBe(0);
  });

  it("creates a file once, and leaves it as it is afterwards", async () => {
    expect(await exchange.create("run/lock", bytes("first"))).toBe(true);
    expect(await exchange.create("run/lock", bytes("second"))).toBe(false);
    expect([text(await exchange.read("run/lock")), await listed(exchange)]).toEqual(["first", ["run/lock"]]);
  });

  it("lets one of many creators win", async () => {
    for (let round = 0; round < 4; round++) {
      const creators = Array.from({ length: 12 }, (_, i) => exchange.create(`lock-${round}`, bytes(`${i}`)));
      const won = (await Promise.all(creators)).flatMap((made, i) => (made ? [i] : []));
      expect(won.length).toBe(1);
      expect(text(await exchange.read(`lock-${round}`))).toBe(`${won[0]}`);
    }
    expect((await listed(exchange)).length).toBe(4);
  });

  it("lists a folder and what is below it, and not its neighbours", async () => {
    const files = ["a", "run/b", "run/deep/er/c", "run-2/d", "runs"];
    for (const file of files) await exchange.write(file, [bytes(file)]);
    expect(await listed(exchange)).toEqual(files.toSorted());
    expect(await listed(exchange, "run")).toEqual(["run/b", "run/deep/er/c"]);
    expect(await listed(exchange, "run/deep")).toEqual(["run/deep/er/c"]);
    for (const none of ["gone", "a", "run/b", "gone/too"]) expect(await listed(exchange, none)).toEqual([]);
  });

  it("removes a file", async () => {
    const files = ["a", "a-2", "run/b", "run/c"];
    for (const file of files) await exchange.write(file, [bytes(file)]);
    for (const none of ["gone", "a/x", "run/b/x/y", "gone/too"]) await exchange.remove(none);
    expect(await listed(exchange)).toEqual(files);
    await exchange.remove("a");
    await exchange.remove("run/b");
    expect(await listed(exchange)).toEqual(["a-2", "run/c"]);
  });

  it("removes a folder and what is below it, and not its neighbours", async () => {
    const files = ["a", "run/b", "run/deep/er/c", "run-2/d", "runs"];
    for (const file of files) await exchange.write(file, [bytes(file)]);
    await exchange.remove("run");
    await exchange.remove("run");
    expect(await listed(exchange)).toEqual(["a", "run-2/d", "runs"]);
    await exchange.remove("");
    expect(await listed(exchange)).toEqual([]);
    await exchange.write("run/b", [bytes("again")]);
    expect(text(await exchange.read("run/b"))).toBe("again");
  });

  it("lists and removes 1,500 files", async () => {
    const files = Array.from({ length: 1500 }, (_, i) => `many/${i % 7}/${i}`);
    if (kind === "folder") for (const file of files) await exchange.write(file, []);
    else
      s3().fill(
        "bucket",
        files.map((file) => `${exchange.url.slice("s3://bucket/".length)}/${file}`),
      );
    expect(await listed(exchange, "many")).toEqual(files.toSorted());
    await exchange.remove("many");
    expect(await listed(exchange)).toEqual([]);
  });

  it("takes odd names", async () => {
    const files = [
      "with space/and  two",
      "ä/日本/😀",
      "a&b<c>'d'",
      "100%/%20/%2F",
      "plus+and=?#",
      "...",
      ".hidden/.x",
      "~",
      "*?[x]",
      'quote"',
    ];
    for (const file of files) expect(await exchange.write(file, [bytes(file)])).toBe(bytes(file).length);
    for (const file of files) expect(text(await exchange.read(file))).toBe(file);
    expect(await listed(exchange)).toEqual(files.toSorted());
    expect(await exchange.create("ä/日本/😀", bytes(""))).toBe(false);
    await exchange.remove("100%");
    await exchange.remove("with space");
    expect(await listed(exchange)).toEqual(files.filter((file) => !/^(100%|with)/.test(file)).toSorted());
  });

  it.each(["", "..", "a/../b", "../a", "/a", "a//b", "a/", "./a", "a\\b", "C:/a", "a\0", "a\nb", "\ud800"])(
    "refuses the name %j",
    async (name) => {
      const calls = [
        () => exchange.write(name, [bytes("x")]),
        () => exchange.read(name),
        () => exchange.create(name, bytes("x")),
        ...(name === "" ? [] : [() => listed(exchange, name), () => exchange.remove(name)]),
      ];
      for (const call of calls) expect((await failureOf(call)).reason).toBe("EXCHANGE_NAME");
      expect(await listed(exchange)).toEqual([]);
    },
  );
});
