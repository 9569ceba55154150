import { execFileSync, spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { cli } from "./run-cli.js";

/** What bash offers after these words, of which the last may be begun. */
async function offered(...words: string[]): Promise<string[]> {
  const { stdout } = await cli(["completion", "bash"]);
  const script = `${stdout}
COMP_WORDS=(warpmap "$@"); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _warpmap; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const options = { encoding: "utf8", cwd: import.meta.dirname } as const;
  return execFileSync("bash", ["-c", script, "bash", ...words], options)
    .split("\n")
    .filter(Boolean);
}

it("bash offers commands, options, choices and files", async () => {
  expect(await offered("")).toEqual(
    expect.arrayContaining(["devices", "join", "group", "distinct", "bench", "completion"]),
  );
  expect(await offered("jo")).toEqual(["join"]);
  expect(await offered("join", "a.csv", "--se")).toEqual(["--select"]);
  expect(await offered("join", "a.csv", "--how", "")).toEqual([
    "inner",
    "left",
    "right",
    "full",
    "semi",
    "anti",
  ]);
  expect(await offered("group", "--format", "p")).toEqual(["parquet"]);
  expect(await offered("join", "completion.t")).toEqual(["completion.test.ts"]);
  expect(await offered("join", "--out", "completion.t")).toEqual(["completion.test.ts"]);
  expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
});

it.each(["zsh", "fish"])("the script for %s names every command and option", async (shell) => {
  const { status, stdout } = await cli(["completion", shell]);
  expect(status).toBe(0);
  for (const word of ["join", "distinct", "how", "inner left right full semi anti", "no-header"]) {
    expect(stdout).toContain(word);
  }
  // where the shell is installed it also has to understand the script
  const checked = spawnSync(shell, ["-n", "/dev/stdin"], { input: stdout, encoding: "utf8" });
  if (checked.error === undefined) expect(checked).toMatchObject({ status: 0, stderr: "" });
});

it("refuses other shells", async () => {
  const { status, stderr } = await cli(["completion", "sh"]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/bash, zsh, fish/);
});
