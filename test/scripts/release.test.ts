// The workflow that publishes: what it may, what it runs, and that its commands exist; and what has to agree about a version.
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

describe("the workflow", () => {
  const source = text(".github/workflows/release.yml");
  const { on, permissions, jobs } = parse(source) as {
    on: unknown;
    permissions: unknown;
    jobs: Record<"check" | "publish", Job>;
  };
  const { check, publish } = jobs;
  const commands = (job: Job) => job.steps.flatMap(({ run }) => run ?? []);
  const using = (job: Job, action: string) =>
    job.steps.filter(({ uses }) => uses?.startsWith(`actions/${action}@`)).map((step) => step.with ?? {});

  it("runs for tags of versions alone", () => expect(on).toEqual({ push: { tags: ["v*"] } }));

  it("has no secret, and only the job that publishes may say who it is", () => {
    expect(source).not.toMatch(/secrets\.|TOKEN/);
    expect(permissions).toEqual({ contents: "read" });
    expect(check.permissions).toBeUndefined();
    expect(publish.permissions).toEqual({ "id-token": "write" });
  });

  it("checks on the oldest Node that the package names, and publishes from Node 24", () => {
    const [oldest] = using(check, "setup-node").map((given) => given["node-version"]);
    expect(pkg.engines.node).toBe(`^${oldest}.0 || >=22.12.0`);
    expect(using(publish, "setup-node").map((given) => given["node-version"])).toEqual(["24"]);
  });

  it("runs every check before, and by commands that exist", () => {
    const scripts = commands(check).flatMap((command) => /^npm (?:run )?([\w:]+)/.exec(command)?.[1] ?? []);
    expect(scripts).toEqual(["ci", "lint", "test", "site:test", "release:check"]);
    for (const name of scripts.slice(1)) expect(pkg.scripts).toHaveProperty(name);
    expect(publish.needs).toBe("check");
    expect(commands(check).join("\n")).toContain('--tag "$GITHUB_REF_NAME" --out release');
  });

  it("publishes the file that was checked, with provenance", () => {
    const [{ name, path }] = using(check, "upload-artifact");
    expect(path).toBe("release/*.tgz");
    expect(using(publish, "download-artifact")).toEqual([{ name }]);
    expect(commands(publish)).toEqual(["npm publish ./*.tgz --access public --provenance"]);
  });

  it("takes actions of one owner, and every job ends", () => {
    for (const job of Object.values(jobs)) {
      expect(job["timeout-minutes"]).toBeGreaterThan(0);
      for (const { uses } of job.steps)
        if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@v\d+$/);
    }
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
