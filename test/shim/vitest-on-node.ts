// What the conformance suite uses of Vitest, on top of node:test, for machines that have Node and a GPU and nothing else.
// scripts/pack-conformance.mjs puts this module in Vitest's place. `expect` and `vi` are Vitest's own.
//
// Test files declare their tests while they load; `inFile` gives each a suite of its own, so hooks at the top of a file stay
// in that file, as they do in Vitest.
import * as nodeTest from "node:test";
import { format } from "node:util";
import {
  ASYMMETRIC_MATCHERS_OBJECT,
  addCustomEqualityTesters,
  chai,
  customMatchers,
  GLOBAL_EXPECT,
  getState,
  JestAsymmetricMatchers,
  JestChaiExpect,
  JestExtend,
  setState,
} from "@vitest/expect";
import { fn, restoreAllMocks, spyOn } from "@vitest/spy";
import type { ProvidedContext } from "vitest";

type Body = (...args: never[]) => unknown;
type Options = { timeout?: number } | number;
type Declare = (name: string, body: () => unknown, timeout: number | undefined) => void;

/** A table of 2^26 entries on a GPU, key by key, is the longest that one test takes. */
const TIMEOUT_MS = 600_000;

/** Vitest names the context of a test file; here it comes from the environment. */
const context: Required<ProvidedContext> = {
  backend: (process.env.WARPMAP_TEST_BACKEND ?? "webgpu") as ProvidedContext["backend"],
  host: "node",
  bulk: process.env.WARPMAP_TEST_BULK ?? "auto",
  long: process.env.WARPMAP_TEST_LONG === "1",
  quick: false,
};

/** The tests of the file that is loading, as calls to node:test that have yet to be made. */
let declarations: (() => void)[] = [];
let declared = 0;
let passed = 0;

/** Loads a test file, then hands its tests to node:test as one suite. */
export async function inFile(name: string, load: () => Promise<unknown>): Promise<void> {
  declarations = [];
  await load();
  const suite = declarations;
  nodeTest.describe(name, () => {
    for (const declare of suite) declare();
  });
}

// A test that timed out, or that a failed hook kept from running, is one that did not pass.
process.on("exit", () => console.log(`${passed} passed, ${declared - passed} failed`));

export const it = withVariants(declareTest);
export const test = it;
export const describe = withVariants(declareSuite);

export const beforeAll = hook(nodeTest.before);
export const afterAll = hook(nodeTest.after);
export const beforeEach = hook(nodeTest.beforeEach);
export const afterEach = hook(nodeTest.afterEach);

export function inject(key: keyof ProvidedContext): string | boolean {
  const value = context[key];
  if (value === undefined) throw new Error(`inject("${key}"): there is ${Object.keys(context).join(", ")}`);
  return value;
}

export const expect = createExpect();
export const vi = { fn, restoreAllMocks, spyOn };

function declareTest(name: string, body: () => unknown, timeout = TIMEOUT_MS): void {
  declarations.push(() => {
    declared++;
    nodeTest.it(name, { timeout }, async () => {
      await body();
      passed++;
    });
  });
}

/** The body of a suite runs at once and only declares, so nested declarations are collected around it. */
function declareSuite(name: string, body: () => unknown): void {
  const outer = declarations;
  const inner: (() => void)[] = [];
  declarations = inner;
  body();
  declarations = outer;
  outer.push(() =>
    nodeTest.describe(name, () => {
      for (const declare of inner) declare();
    }),
  );
}

function hook(register: typeof nodeTest.before) {
  return (body: () => unknown, timeout = TIMEOUT_MS): void => {
    declarations.push(() => register(async () => void (await body()), { timeout }));
  };
}

/** Vitest takes `(name, body, options)` and `(name, options, body)`; options may be the timeout alone. */
function withVariants(declare: Declare) {
  const call = (name: string, a?: Body | Options, b?: Body | Options, args: unknown[] = []): void => {
    const [body, options] = typeof a === "function" ? [a, b] : [b, a];
    const timeout =
      typeof options === "number" ? options : (options as { timeout?: number } | undefined)?.timeout;
    declare(name, () => (body as Body | undefined)?.(...(args as never[])), timeout);
  };
  const plain = (name: string, a?: Body | Options, b?: Body | Options): void => call(name, a, b);
  const skip = (name: string): void => {
    declarations.push(() => nodeTest.it.skip(name));
  };
  return Object.assign(plain, {
    skip,
    todo: skip,
    runIf: (condition: unknown) => (condition ? plain : skip),
    skipIf: (condition: unknown) => (condition ? skip : plain),
    each: (table: readonly unknown[]) => (name: string, a: Body | Options, b?: Body | Options) => {
      for (const row of table) {
        const args = Array.isArray(row) ? row : [row];
        call(title(name, args), a, b, args);
      }
    },
    for: (table: readonly unknown[]) => (name: string, a: Body | Options, b?: Body | Options) => {
      for (const row of table) call(title(name, Array.isArray(row) ? row : [row]), a, b, [row]);
    },
  });
}

/** `%s` and its like take the arguments in turn, `$key` a property of the first. */
function title(name: string, args: unknown[]): string {
  const used = name.match(/%[sdifjoO]/g)?.length ?? 0;
  const [first] = args;
  return format(name, ...args.slice(0, used)).replace(/\$(\w+)/g, (whole, key: string) =>
    typeof first === "object" && first !== null && key in first ? String(first[key as never]) : whole,
  );
}

/** As Vitest makes it, less what needs its runner (poll, soft, snapshots). */
function createExpect(): typeof chai.expect {
  chai.use(JestExtend);
  chai.use(JestChaiExpect);
  chai.use(JestAsymmetricMatchers);
  const globals = globalThis as Record<symbol, unknown>;
  const made = ((value: unknown, message?: string) => chai.expect(value, message)) as typeof chai.expect;
  Object.assign(made, chai.expect, globals[ASYMMETRIC_MATCHERS_OBJECT as unknown as symbol]);
  Object.assign(made, {
    getState: () => getState(made as never),
    setState: (state: never) => setState(state, made as never),
    extend: (matchers: never) =>
      (chai.expect as unknown as { extend(to: unknown, matchers: never): void }).extend(made, matchers),
    addEqualityTesters: addCustomEqualityTesters,
    unreachable: (message = "") => chai.assert.fail(`expected ${message} not to be reached`),
  });
  setState(
    { assertionCalls: 0, isExpectingAssertions: false, expectedAssertionsNumber: null } as never,
    made as never,
  );
  globals[GLOBAL_EXPECT as unknown as symbol] = made;
  (made as unknown as { extend(matchers: unknown): void }).extend(customMatchers);
  return made;
}
