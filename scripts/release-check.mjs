// npm run release:check: everything that can be checked about the package before it is published, once more and from the packed file.
//
//   npm run release:check [-- --tag v0.1.0] [--out FOLDER]
//
// --tag also checks that version, tag and changelog agree; --out keeps the packed file, the one that was checked.
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Project, root } from "./package/project.mjs";
import { versionFaults } from "./release/version.mjs";

const { values } = parseArgs({ options: { tag: { type: "string" }, out: { type: "string" } } });
const text = (path) => readFileSync(join(root, path), "utf8");
const json = (path) => JSON.parse(text(path));

checkVersion();
run("build", "scripts/build.mjs");
run("sizes", "scripts/check-size.mjs");
run("package", "scripts/check-package.mjs");
runPrograms();
console.log("\nready to be published");

function checkVersion() {
  const faults = versionFaults({
    pkg: json("package.json"),
    lock: json("package-lock.json"),
    changelog: text("CHANGELOG.md"),
    tag: values.tag,
  });
  end("version", faults);
}

function run(title, script) {
  console.log(`\n== ${title}`);
  const { status } = spawnSync(process.execPath, [join(root, script)], { cwd: root, stdio: "inherit" });
  if (status !== 0) end(title, [`${script} failed`]);
}

/** The README's programs and the examples, where the packed file is installed and nothing of the repository is. */
function runPrograms() {
  console.log("\n== programs");
  const project = new Project();
  const faults = [];
  try {
    project.install();
    project.link("vega-datasets"); // data of the examples
    cpSync(join(root, "examples"), join(project.folder, "examples"), { recursive: true });
    for (const [name, ...args] of programs(project)) {
      try {
        project.node(name, ...args);
        console.log(`ok      ${[name, ...args].join(" ")}`);
      } catch (error) {
        faults.push(`${name}: ${error.stderr || error.message}`);
      }
    }
    if (values.out !== undefined && faults.length === 0) keep(project.tarball);
  } finally {
    project.remove();
  }
  end("programs", faults);
}

/** Paths with arguments. Examples check their answers; those for a GPU alone have a test. */
function programs(project) {
  const blocks = Array.from(text("README.md").matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, code]) => code);
  const inReadme = blocks.map((code, i) => {
    const name = `readme-${i + 1}.mjs`;
    project.write(name, code);
    return [name];
  });
  const commands = Array.from(text("docs/examples.md").matchAll(/^node (examples\/.*)$/gm), ([, line]) =>
    line.split(" "),
  );
  const onCpu = commands.filter(([name]) => !name.startsWith("examples/wgsl-"));
  return [...inReadme, ...onCpu.map((command) => [...command, "--backend", "cpu"])];
}

function keep(tarball) {
  const folder = resolve(values.out);
  mkdirSync(folder, { recursive: true });
  cpSync(tarball, join(folder, basename(tarball)));
  console.log(`kept ${join(folder, basename(tarball))}`);
}

function end(title, faults) {
  if (faults.length === 0) return;
  console.error(`\n${title}: FAILED\n${faults.join("\n")}`);
  process.exit(1);
}
