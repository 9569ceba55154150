/** What `npm run mutants` starts and makes is gone when it is stopped. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { temporaryFolder } from "../io/temporary.js";

const path = temporaryFolder();
const module = JSON.stringify(new URL("../../scripts/mutants/processes.mjs", import.meta.url).href);

/** A program that starts another; each of them makes a file grow for as long as it lives. */
const GROWING = `
  const { appendFileSync } = require("node:fs");
  const [file, other] = process.argv.slice(-2);
  setInterval(() => appendFileSync(file, "."), 10);
  if (other !== "none") {
    require("node:child_process").spawn(process.execPath, ["-e", process.env.GROWING, other, "none"], { stdio: "ignore" });
  }`;

/** Starts a process that does what scripts/mutants.mjs does with `module`. */
function start(name: string, limitMs: number) {
  const files = [path(`${name}-program`), path(`${name}-other`)];
  const folder = path(`${name}-folder`);
  const source = `
    import { writeFileSync } from "node:fs";
    import { runNode, temporaryFolder } from ${module};
    writeFileSync(${JSON.stringify(folder)}, temporaryFolder("warpmap-test-"));
    console.log(await runNode(["-e", process.env.GROWING, ...${JSON.stringify(files)}], ".", ${limitMs}));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    env: { ...process.env, GROWING },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const isGrowing = async () => {
    const sizes = () => files.map((file) => (existsSync(file) ? statSync(file).size : 0));
    const before = sizes();
    await sleep(300);
    return sizes().map((size, i) => size > before[i]);
  };
  return { child, isGrowing, folder: () => readFileSync(folder, "utf8") };
}

it.each(["SIGINT", "SIGTERM", "SIGHUP"] as const)("%s ends everything, with status 1", async (signal) => {
  const { child, isGrowing, folder } = start(signal, 60_000);
  await expect.poll(isGrowing, { timeout: 30_000 }).toEqual([true, true]);
  expect(existsSync(folder())).toBe(true);
  child.kill(signal);
  const [status] = await once(child, "exit");
  expect(status).toBe(1);
  expect(existsSync(folder())).toBe(false);
  expect(await isGrowing()).toEqual([false, false]);
});

it("a program that runs for too long is ended with what it started", async () => {
  const { child, isGrowing, folder } = start("timeout", 5000);
  await expect.poll(isGrowing, { timeout: 30_000 }).toEqual([true, true]);
  const [said] = await once(child.stdout, "data");
  expect(String(said)).toBe("timeout\n");
  await once(child, "exit");
  expect(await isGrowing()).toEqual([false, false]);
  expect(existsSync(folder())).toBe(false);
});
