// Tests of the built site. They are not part of the repository's `npm test`: they need the site's packages.
import { defineConfig } from "vitest/config";
import { site } from "./paths.mjs";

export default defineConfig({
  root: site,
  test: {
    include: ["test/**/*.test.mjs"],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    maxWorkers: 2,
  },
});
