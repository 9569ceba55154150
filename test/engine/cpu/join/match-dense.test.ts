// The joins of test/engine/gpu/join/match-dense.test.ts on the cpu engine.
import { expect, it } from "vitest";
import { openCpuEngine } from "../../../../src/engine/cpu/cpu-engine.js";
import { JOIN_KINDS } from "../../../../src/engine/join-kinds.js";
import { denseSides, joinAndCompare } from "../../../helpers/dense-sides.js";

it.each(Object.keys(denseSides))("%s", async (name) => {
  const engine = await openCpuEngine({ threads: 1 });
  for (const how of JOIN_KINDS)
    expect(await joinAndCompare(engine, denseSides[name], how), how).toBeInstanceOf(Array);
  engine.destroy();
});
