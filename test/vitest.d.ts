// What vitest.config.ts (and test/shim/vitest-on-node.ts) tells every test file about where it runs.
import "vitest";

declare module "vitest" {
  interface ProvidedContext {
    /** The engine to open: `openDevice({ backend: inject("backend"), software: true })`. */
    backend: "cpu" | "webgpu" | "cuda";
    host: "node" | "browser";
    /** The strategy of all bulk calls: "auto", "partitioned", or "direct/" and a group size. */
    bulk: string;
    /** Whether randomised tests run long: test/helpers/rounds.ts. */
    long: boolean;
    /** Whether they run a fourth of their rounds, in `npm run test:quick`. */
    quick?: boolean;
  }
}
