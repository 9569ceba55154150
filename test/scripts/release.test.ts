// The workflows: what they may, what they run, and that their commands exist; and what has to agree about a version.
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { versionFaults } from "../../scripts/release/version.mjs";

const root = resolve(import.meta.dirname, "../..");
const text = (path: string) => readFileSync(join(root, path), "utf8");
const pkg = JSON.parse(text("package.json"));

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Readonly<Record<string, string | boolean>>;
}
interface Job {
  readonly needs?: string;
  readonly permissions?: Readonly<Record<string, string>>;
  readonly "timeout-minutes": number;
  readonly steps: readonly Step[];
}

interface Workflow<Name extends string> {
  readonly source: string;
  readonly on: unknown;
  readonly permissions: unknown;
  readonly jobs: Readonly<Record<Name, Job>>;
}

function workflow<Name extends string>(file: string): Workflow<Name> {
  const source = text(`.github/workflows/${file}`);
  return { source, ...parse(source) };
}

const commands = (job: Job) => job.steps.flatMap(({ run }) => run ?? []);
const scriptsOf = (job: Job) =>
  commands(job).flatMap((command) => /^npm (?:run )?([\w:]+)/.exec(command)?.[1] ?? []);
const using = (job: Job, action: string) =>
  job.steps.filter(({ uses }) => uses?.startsWith(`actions/${action}@`)).map((step) => step.with ?? {});

describe.each(["release.yml", "pull-request.yml"])("%s", (file) => {
  const { source, permissions, jobs } = workflow(file);

  it("has no secret, and may read alone unless a job says more", () => {
    expect(source).not.toMatch(/secrets\.|TOKEN/);
    expect(permissions).toEqual({ contents: "read" });
  });

  it("takes actions of one owner, and every job ends", () => {
    for (const job of Object.values(jobs)) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const { uses } of job.steps)
        if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
    }
  });

  it("runs commands that exist", () => {
    const names = Object.values(jobs).flatMap(scriptsOf);
    for (const name of names)
      if (name !== "ci" && name !== "publish") expect(pkg.scripts).toHaveProperty(name);
  });
});

describe("the workflow of pull requests", () => {
  const { on, jobs } = workflow<"check">("pull-request.yml");

  it("runs the commands that CONTRIBUTING.md names, and no more", () => {
    expect(on).toEqual({ pull_request: null, push: { branches: ["main"] } });
    expect(Object.keys(jobs)).toEqual(["check"]);
    expect(scriptsOf(jobs.check)).toEqual(["ci", "lint", "docs", "test"]);
    expect(jobs.check.permissions).toBeUndefined();
  });
});

describe("the workflow that publishes", () => {
  const { on, jobs } = workflow<"check" | "publish">("release.yml");
  const { check, publish } = jobs;

  it("runs for tags of versions alone", () => expect(on).toEqual({ push: { tags: ["v*"] } }));

  it("lets only the job that publishes say who it is", () => {
    expect(check.permissions).toBeUndefined();
    expect(publish.permissions).toEqual({ "id-token": "write" });
  });

  it("checks on the oldest Node that the package names, and publishes from Node 24", () => {
    const [oldest] = using(check, "setup-node").map((given) => given["node-version"]);
    expect(pkg.engines.node).toBe(`^${oldest}.0 || >=22.12.0`);
    expect(using(publish, "setup-node").map((given) => given["node-version"])).toEqual(["24"]);
  });

  it("runs every check before", () => {
    expect(scriptsOf(check)).toEqual(["ci", "lint", "test", "site:test", "release:check"]);
    expect(publish.needs).toBe("check");
    expect(commands(check).join("\n")).toContain('--tag "$GITHUB_REF_NAME" --out release');
  });

  it("publishes the file that was checked, with provenance", () => {
    const [{ name, path }] = using(check, "upload-artifact");
    expect(path).toBe("release/*.tgz");
    expect(using(publish, "download-artifact")).toEqual([{ name }]);
    expect(commands(publish)).toEqual(["npm publish ./*.tgz --access public --provenance"]);
  });
});

describe("a version", () => {
  const good = {
    pkg: { version: "1.2.0" },
    lock: { version: "1.2.0", packages: { "": { version: "1.2.0" } } },
    changelog: "# Changelog\n\n## 1.2.0 (2026-12-24)\n\n## 1.1.0 (2026-11-24)\n",
    tag: "v1.2.0",
  };

  it("may be published when all agree", () => expect(versionFaults(good)).toEqual([]));

  it.each([
    [{ tag: "v1.1.0" }, /tag is v1.1.0, and should be v1.2.0/],
    [{ changelog: "## 1.2.0 (unreleased)\n" }, /day of the release/],
    [{ changelog: "## 1.1.0 (2026-11-24)\n" }, /begins with 1.1.0/],
    [{ lock: { version: "1.1.0", packages: { "": { version: "1.2.0" } } } }, /lock.json is of 1.1.0/],
    [{ pkg: { version: "next" } }, /is no version/],
  ])("may not with %o", (change, fault) =>
    expect(versionFaults({ ...good, ...change }).join()).toMatch(fault),
  );

  it("is in agreement here", () => {
    const lock = JSON.parse(text("package-lock.json"));
    expect(versionFaults({ pkg, lock, changelog: text("CHANGELOG.md"), tag: undefined })).toEqual([]);
  });
});
