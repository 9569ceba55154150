import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { cli } from "./run-cli.js";

it("prints the version", async () => {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
  expect(await cli(["--version"])).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
});

it.each([["--help"], ["help"], ["-h"]])("lists the commands that work: %s", async (...args) => {
  const { status, stdout, stderr } = await cli(args);
  expect([status, stderr]).toEqual([0, ""]);
  for (const command of ["devices", "join", "group", "distinct", "bench"])
    expect(stdout).toMatch(new RegExp(`^  ${command} `, "m"));
});

it.each(["devices", "join", "group", "distinct", "bench"])("explains %s", async (command) => {
  const help = await cli([command, "--help"]);
  expect([help.status, help.stderr]).toEqual([0, ""]);
  expect(help.stdout).toMatch(new RegExp(`^Usage: warpmap ${command} `));
  expect(await cli(["help", command])).toEqual(help);
});

it("prints help and status 2 where no command is named", async () => {
  const { status, stdout, stderr } = await cli([]);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^Usage: warpmap/);
});
