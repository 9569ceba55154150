// What only exchanges in folders do.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, vi } from "vitest";
import { openExchange } from "../../packages/cluster/src/exchange/open-exchange.js";
import { bytes, failureOf, listed, MIB, pattern, temporaryFolder } from "./exchange-helpers.js";

const inFolder = temporaryFolder();

describe("an exchange in a folder", () => {
  it("is made where it is not, for a URL as for a path", async () => {
    const path = inFolder("to be made/a&ä#1");
    const exchange = await openExchange(pathToFileURL(path).href);
    expect([existsSync(path), exchange.url]).toEqual([true, pathToFileURL(path).href]);
    const cwd = vi.spyOn(process, "cwd").mockReturnValue(inFolder("."));
    expect((await openExchange("./here/../there")).url).toBe(pathToFileURL(inFolder("there")).href);
    cwd.mockRestore();
  });

  it("does not list what a killed writer left, and removes it", async () => {
    const exchange = await openExchange(inFolder("left"));
    const left = ".warpmap-0123456789abcdef01234567.tmp";
    writeFileSync(inFolder(`left/${left}`), "half");
    expect(await listed(exchange)).toEqual([]);
    expect((await failureOf(exchange.write(`a/${left}`, []))).reason).toBe("EXCHANGE_NAME");
    await exchange.remove("");
    expect(readdirSync(inFolder("left"))).toEqual([]);
  });

  it("tells of a path that is a file, with the system's error", async () => {
    mkdirSync(inFolder("file"), { recursive: true });
    writeFileSync(inFolder("file/x"), "");
    for (const path of ["file/x", "file/x/y"]) {
      const error = await failureOf(openExchange(inFolder(path)));
      expect(error.reason).toBe("EXCHANGE");
      expect(error.message).toContain(
        `Cannot make the folder ${inFolder(path)}: a part of the path is a file.`,
      );
      expect((error.cause as NodeJS.ErrnoException).syscall).toBe("mkdir");
    }
  });

  it("tells of names that are too long, and of one that a folder has", async () => {
    const exchange = await openExchange(inFolder("names"));
    await exchange.write("a/b", []);
    expect((await failureOf(exchange.write("x".repeat(300), []))).problem).toMatch(/the name is too long/);
    expect((await failureOf(exchange.write("a", []))).problem).toMatch(/there is a folder of that name/);
    expect(readdirSync(inFolder("names"))).toEqual(["a"]);
  });

  it("keeps nothing where the disk is full, and says so", async ({ skip }) => {
    const path = mkdtempSync(join(tmpdir(), "warpmap-full-"));
    try {
      execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", path], { stdio: "ignore" });
    } catch {
      rmSync(path, { recursive: true });
      skip("only root may mount a file system of a MiB");
    }
    try {
      const exchange = await openExchange(path);
      await exchange.write("small", [bytes("fits")]);
      const pieces = () => Array.from({ length: 32 }, () => pattern(MIB / 8));
      for (const call of [
        () => exchange.write("large", pieces()),
        () => exchange.create("large", pattern(4 * MIB)),
      ]) {
        const error = await failureOf(call);
        expect(error.message).toBe(
          `Cannot write "large" in the folder ${path}: the disk is full. Free space on that disk, or use a folder on a larger one.`,
        );
        expect([error.reason, (error.cause as NodeJS.ErrnoException).code]).toEqual(["EXCHANGE", "ENOSPC"]);
        expect(readdirSync(path)).toEqual(["small"]);
      }
    } finally {
      execFileSync("umount", [path]);
      rmSync(path, { recursive: true });
    }
  });
});
