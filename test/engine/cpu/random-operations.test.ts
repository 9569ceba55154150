import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { openCpuEngine } from "../../../src/engine/cpu/cpu-engine.js";
import type { Engine } from "../../../src/engine/engine.js";
import { rounds } from "../../helpers/rounds.js";
import { type AnyTable, runStep, sequences, specs } from "./drive.js";
import { Model } from "./model.js";

/** Sequences against the model. */
const contestants = [
  { name: "one thread", runs: 1000, options: { threads: 1 } },
  { name: "one thread, chunks of 3 elements", runs: 400, options: { threads: 1, tuning: { chunk: 3 } } },
  {
    name: "three threads, chunks of up to 16 elements in slices of 4 and 4 ranges",
    runs: 250,
    options: {
      threads: 3,
      tuning: { chunk: 16, lookUpFrom: 1, changeFrom: 1, share: 4, slice: 4, grain: 2, ranges: 4, pause: 0 },
    },
  },
];

describe("random operation sequences equal a plain Map's", () => {
  const engines: Engine[] = [];
  afterAll(() => {
    for (const engine of engines) engine.destroy();
  });

  for (const { name, runs, options } of contestants) {
    it(name, async () => {
      const engine = await openCpuEngine(options);
      engines.push(engine);
      const sequence = specs.chain((spec) => fc.tuple(fc.constant(spec), sequences(spec, 20)));
      let full = 0;
      await fc.assert(
        fc.asyncProperty(sequence, async ([spec, steps]) => {
          const table = (await engine.createTable(spec)) as AnyTable;
          const model = new Model(spec);
          for (const step of steps) {
            await runStep(table, model, step);
            if (model.entries.size >= spec.slots) full++;
          }
          table.destroy();
        }),
        { numRuns: rounds(runs) },
      );
      // The sequences are worth their time only if tables fill up.
      expect(full).toBeGreaterThan(rounds(runs) / 10);
    });
  }
});
