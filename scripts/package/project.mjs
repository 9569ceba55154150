// An empty project, with the package installed from the file that `npm pack` makes: where the checks of the package run.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { softwareGpuEnv } from "../software-gpu.mjs";

/** The repository. */
export const root = resolve(fileURLToPath(import.meta.url), "../../..");

export class Project {
  #temporary = mkdtempSync(join(tmpdir(), "warpmap-package-"));
  folder = join(this.#temporary, "project");
  /** The packed file. */
  tarball;
  /** Paths in it. */
  files;
  packedBytes;
  unpackedBytes;

  /** Packs dist as it is: `prepack` would build again, so scripts stay off. */
  constructor() {
    mkdirSync(this.folder);
    this.write("package.json", JSON.stringify({ private: true, type: "module" }));
    const output = npm(root, "pack", "--json", "--ignore-scripts", "--pack-destination", this.#temporary);
    const [{ filename, files, size, unpackedSize }] = Object.values(JSON.parse(output));
    this.tarball = join(this.#temporary, filename);
    this.files = files.map(({ path }) => path);
    this.packedBytes = size;
    this.unpackedBytes = unpackedSize;
  }

  /** @returns what npm printed on stderr: its warnings. */
  install() {
    const args = ["install", "--no-audit", "--no-fund", this.tarball];
    const { status, stdout, stderr } = spawnSync("npm", args, npmOptions(this.folder));
    if (status !== 0) throw new Error(`npm ${args.join(" ")}\n${stdout}${stderr}`);
    return stderr;
  }

  /** Installs a package of the repository's, without a copy: `webgpu` is large. */
  link(name) {
    const path = join(this.folder, "node_modules", name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(join(root, "node_modules", name), path, "junction");
  }

  write(path, text) {
    writeFileSync(join(this.folder, path), text);
  }

  /** Runs Node where the package `webgpu` finds the software GPU. @returns stdout */
  node(...args) {
    return execFileSync(process.execPath, args, {
      cwd: this.folder,
      encoding: "utf8",
      stdio: "pipe",
      timeout: 60_000,
      env: { ...process.env, ...softwareGpuEnv() },
    });
  }

  /** @returns stdout */
  npm(...args) {
    return npm(this.folder, ...args);
  }

  remove() {
    rmSync(this.#temporary, { recursive: true, force: true });
  }
}

function npm(cwd, ...args) {
  return execFileSync("npm", args, npmOptions(cwd));
}

function npmOptions(cwd) {
  return { cwd, encoding: "utf8", stdio: "pipe", shell: process.platform === "win32" };
}
