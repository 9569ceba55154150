/**
 * Thousands of damaged Arrow files, each read in one of the ways that there are (whole or by batches; bytes, or a stream cut anywhere; some
 * columns): each is read or refused in words, within 10 seconds and 1 GiB. fuzz.test.ts looks at what is read, this at how reading ends.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { rounds } from "../../helpers/rounds.js";
import { temporaryFolder } from "../temporary.js";
import { arrowSeeds } from "./arrow-corpus.js";
import { readManyDamaged } from "./many-damaged.js";

const path = temporaryFolder();

it("arrow", async () => {
  mkdirSync(path("arrow"));
  for (const { name, bytes } of arrowSeeds()) writeFileSync(path(`arrow/${name}`), bytes);
  const count = rounds(1000);
  const { failures, read, refused } = await readManyDamaged(path("arrow"), "arrow", 0, count);
  expect(failures).toEqual([]);
  expect(read).toBeGreaterThan(count / 20);
  expect(read + refused).toBe(count);
}, 36_000_000);
