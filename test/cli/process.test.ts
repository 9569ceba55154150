/** What only a process of its own shows: statuses, signals, closed pipes, and that it ends by itself. */
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, relative, resolve } from "node:path";
import { expect, it } from "vitest";
import { temporaryFolder } from "../io/temporary.js";
import { outcomeOf, start } from "./run-cli.js";

const path = temporaryFolder();
writeFileSync(
  path("a.csv"),
  `id,text\n${Array.from({ length: 300_000 }, (_, i) => `${i},text ${i}\n`).join("")}`,
);
const JOIN = ["join", path("a.csv"), path("a.csv"), "--on", "id=id"];
/** Vulkan loaders of both generations are told of a driver that is not there. */
const NO_GPU = { ...process.env, VK_ICD_FILENAMES: "/nowhere.json", VK_DRIVER_FILES: "/nowhere.json" };

it("joins, prints JSON, and ends by itself", async () => {
  const { status, stdout } = await outcomeOf(start([...JOIN, "--device", "cpu", "--json"]));
  expect(status).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ rows: 300_000, device: "cpu" });
});

it("ends with 2 for a wrong call and with 1 for a missing file", async () => {
  expect((await outcomeOf(start(["nonsense"]))).status).toBe(2);
  const { status, stdout, stderr } = await outcomeOf(
    start(["join", "no.csv", "no.csv", "--on", "a=a", "--device", "cpu"]),
  );
  expect([status, stdout]).toEqual([1, ""]);
  expect(stderr).toMatch(/^warpmap: no\.csv: no such file or directory\.\nhint: .+\n$/);
});

// elsewhere than on Linux a GPU needs no Vulkan driver
it.runIf(process.platform === "linux")(
  "takes the CPU where there is no GPU, and fails where a GPU was asked for by name",
  async () => {
    const auto = await outcomeOf(start([...JOIN, "--json"], NO_GPU));
    expect(JSON.parse(auto.stdout).device).toBe("cpu");
    const named = await outcomeOf(start([...JOIN, "--device", "webgpu"], NO_GPU));
    expect([named.status, named.stdout]).toEqual([1, ""]);
    expect(named.stderr).toMatch(/^warpmap: Backend "webgpu" is not available .*\nhint: .+$/m);
  },
);

it("ends in silence when its reader goes away", async () => {
  const child = start(["--help"]);
  child.stdout?.destroy();
  const { status, stderr } = await outcomeOf(child);
  expect([status, stderr]).toEqual([0, ""]);
});

it("ends with 130 when interrupted", async () => {
  writeFileSync(path("long.csv"), `id\n${"1234567\n".repeat(5_000_000)}`); // read for seconds
  const child = start(["join", path("long.csv"), path("a.csv"), "--on", "id=id", "--device", "cpu"]);
  setTimeout(() => child.kill("SIGINT"), 1500);
  const { status, stdout, stderr } = await outcomeOf(child);
  expect([status, stdout, stderr]).toEqual([130, "", "warpmap: interrupted\n"]);
});

it("loads no engine, reader or operator before a command asks for it", () => {
  const loaded = new Set<string>();
  const load = (path: string) => {
    if (loaded.has(path)) return;
    loaded.add(path);
    // static imports of values; what commands import() is loaded when they run
    const imports = readFileSync(path, "utf8").matchAll(
      /^(?:import|export) (?!type)[^;]*?from "(\.[^"]+)"/gm,
    );
    for (const [, target] of imports) load(resolve(dirname(path), target.replace(/\.js$/, ".ts")));
  };
  const source = resolve(import.meta.dirname, "../../src");
  load(resolve(source, "cli/main.ts"));
  const names = [...loaded].map((path) => relative(source, path));
  expect(names).toContain("cli/program.ts");
  expect(names.filter((name) => /^(engine|relational)\/|^io\/(?!errors)/.test(name))).toEqual([]);
});
