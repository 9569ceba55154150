import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { run } from "../../bench/peers.js";
import { openDevice } from "../../src/index.js";
import { expectReport } from "./expect-report.js";

const program = join(import.meta.dirname, "../../bench/peers/build/peers");

// the C++ maps are built by hand: without them the benchmark has to say so
it("compares the maps of C++ with the engine and a JS Map, or names the command that builds them", async () => {
  using device = await openDevice({ backend: "cpu", threads: 2 });
  const report = run(device, { size: 5000, runs: 1 });
  if (!existsSync(program)) {
    await expect(report).rejects.toThrow("make -C bench/peers");
    return;
  }
  const { rows } = await report;
  expectReport(await report, "peers");
  const boost = rows.filter(({ by }) => by === "boost::unordered_flat_map");
  expect(boost.map(({ operation }) => operation)).toEqual(["insert", "find present", "find absent", "erase"]);
});
