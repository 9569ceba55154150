// The view Code: every program it offers ends as docs/examples.md says; errors at their line; Stop.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { documentedPrograms, examplePrograms } from "../../programs.mjs";
import { openView, playground, root } from "./helpers.mjs";

const SLOW = { timeout: 240_000 };

const site = playground();

const page = readFileSync(join(root, "docs/examples.md"), "utf8");

/** What docs/examples.md says that a program prints on the cpu engine; undefined for the others. */
function documented(name) {
  const [, text] =
    new RegExp(`\`\`\`sh\nnode examples/${name}\n\`\`\`\n\n\`\`\`text\n([^]*?)\`\`\``).exec(page) ?? [];
  // the README changes with every release, and docs count the words of another text
  return text;
}

async function run(page, program, engine) {
  await page.locator('[data-panel="code"] select').first().selectOption(program);
  await page.locator('[data-panel="code"]').getByLabel("Engine").selectOption(engine);
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".place", { hasText: /^Ended/ }).waitFor({ timeout: 200_000 });
  return page.locator(".output-text").textContent();
}

test("runs the programs, which print what the documentation says", SLOW, async () => {
  const { page, errors } = await openView(site, "code");
  const programs = examplePrograms().map(({ name }) => name);
  assert.ok(programs.length >= 8, programs.join());
  for (const program of programs.filter((name) => !name.startsWith("wgsl-"))) {
    const text = await run(page, program, "cpu");
    assert.match(await page.locator('[data-panel="code"] .place').textContent(), /^Ended after/, text);
    const said = documented(program);
    if (said !== undefined) assert.equal(text.replace(/\d+ ms/g, "… ms"), said, program);
    else assert.match(text, /counted in \d+ ms on cpu/);
  }
  assert.deepEqual(errors, []);
  await page.context().close();
});

test(
  "starts with the README's map; keeps what was changed, and the program's name in the address",
  SLOW,
  async () => {
    const { page, errors } = await openView(site, "code");
    const program = page.locator('[data-panel="code"] select').first();
    await page.locator(".cm-content").waitFor();
    assert.match(page.url(), /#\/code\?program=map\.mjs$/);
    const readme = readFileSync(join(root, "README.md"), "utf8");
    const [{ source }] = documentedPrograms();
    assert.ok(readme.includes(source) && source.includes("StaticMap.create"));
    assert.equal(await page.getByLabel("Arguments").isDisabled(), true);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".place", { hasText: /^Ended after/ }).waitFor();
    assert.match(await page.locator(".output-text").textContent(), /^500000 1000000 2000000$/m);

    const mine = 'console.log("mine");';
    await write(page, mine);
    await program.selectOption("triangles.mjs");
    await page.locator(".cm-content", { hasText: "triangles" }).waitFor();
    assert.equal(await page.getByLabel("Arguments").isDisabled(), false);
    await page.goto(`${site.url}#/code?program=map.mjs`);
    await page.locator(".cm-content", { hasText: mine }).waitFor();
    await page.reload();
    await page.locator(".cm-content", { hasText: mine }).waitFor();
    await page.getByRole("link", { name: "Code" }).click();
    await page.waitForFunction(() => location.hash === "#/code?program=map.mjs");
    const reset = page.getByRole("button", { name: "Undo all changes" });
    await reset.click();
    await page.locator(".cm-content", { hasText: "StaticMap" }).waitFor();
    assert.equal(await reset.isVisible(), false);
    assert.deepEqual(errors, []);
    await page.context().close();
  },
);

test("runs the programs of the documentation, which print what their pages say", {
  timeout: 600_000,
}, async () => {
  const { page, errors } = await openView(site, "code");
  const flat = (text) => text.replace(/\s+/g, " ").trim();
  const faults = [];
  for (const { name, source, prints } of documentedPrograms()) {
    await page.goto(`${site.url}#/code?program=${name}`);
    await page.waitForFunction((name) => document.querySelector("option:checked")?.value === name, name);
    // the only GPU of a test is a software one
    const onTestGpu = source.replace('backend: "webgpu"', 'backend: "webgpu", software: true');
    if (onTestGpu !== source) await write(page, onTestGpu);
    await page.getByRole("button", { name: "Run" }).click();
    const state = page.locator('[data-panel="code"] .place', { hasText: /^Ended/ });
    await state.waitFor({ timeout: 120_000 });
    const said = await page.locator(".output-text").textContent();
    const isRight =
      (await state.textContent()).startsWith("Ended after") &&
      (prints === undefined || flat(said) === flat(prints));
    if (!isRight) faults.push({ name, said, prints });
  }
  assert.deepEqual(faults, []);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("runs kernels on a software GPU", SLOW, async () => {
  const { page, errors } = await openView(site, "code");
  const text = await run(page, "wgsl-find.mjs", "software");
  assert.match(text, /swiftshader/i);
  assert.match(text, /1000000 orders cost \d+/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

/** Replaces the program in the editor. */
async function write(page, source) {
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+A");
  await page.keyboard.insertText(source);
}

test("shows errors at their line", SLOW, async () => {
  const { page } = await openView(site, "code");
  for (const [source, says] of [
    [
      'console.log({ a: [1, -0, "x"] });\n\nnull.x;\n',
      /^\{ a: \[ 1, -0, 'x' \] \}\nline 3: TypeError: .*null/,
    ],
    ["const a = 1;\nconst b = (;\n", /^line 2: SyntaxError: Unexpected token ';'\.$/m],
    ["\nconst a: number = 3;\n", /^line 2: SyntaxError: .*JavaScript here: leave out TypeScript's types/],
    ['import _ from "lodash";\n', /^line 1: "lodash" cannot be imported here/],
    [
      'import { openDevice } from "warpmap";\n\nawait openDevice({ backend: "gpu" });\n',
      /^line 3: ValidationError: .*gpu/,
    ],
  ]) {
    await write(page, source);
    await page.getByRole("button", { name: "Run" }).click();
    await page.locator(".output-text .error").first().waitFor();
    assert.match(await page.locator(".output-text").textContent(), says);
    await page.locator(".cm-lint-marker-error").first().waitFor();
  }
  await page.context().close();
});

test("Stop ends a program that never ends", SLOW, async () => {
  const { page } = await openView(site, "code");
  await write(page, 'console.log("begun");\nfor (;;);\n');
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".output-text", { hasText: "begun" }).waitFor();
  await page.getByRole("button", { name: "Stop" }).click();
  await page.locator('[data-panel="code"] .place', { hasText: "Stopped." }).waitFor();
  await write(page, 'console.log("again");\n');
  await page.getByRole("button", { name: "Run" }).click();
  await page.locator(".output-text", { hasText: "again" }).waitFor();
  await page.context().close();
});
