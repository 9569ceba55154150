/** Modules of Node, for code that also runs in pages: an import would stop their bundlers. */
import { ValidationError } from "../errors.js";

type Builtin = {
  "node:buffer": typeof import("node:buffer");
  "node:fs": typeof import("node:fs");
  "node:fs/promises": typeof import("node:fs/promises");
  "node:os": typeof import("node:os");
  "node:path": typeof import("node:path");
  "node:stream/promises": typeof import("node:stream/promises");
  "node:v8": typeof import("node:v8");
  "node:vm": typeof import("node:vm");
  "node:zlib": typeof import("node:zlib");
};

/** A module of Node, or undefined where there is none. */
export function builtin<Name extends keyof Builtin>(name: Name): Builtin[Name] | undefined {
  if (typeof process === "undefined") return undefined;
  return process.getBuiltinModule?.(name) as Builtin[Name] | undefined;
}

/** A module that files need. @throws ValidationError where there are none */
export function fileModule<Name extends keyof Builtin>(name: Name): Builtin[Name] {
  const module = builtin(name);
  if (module) return module;
  throw new ValidationError(
    "Files cannot be opened by their paths here.",
    "Give readTable the bytes, a Blob or a stream; take bytes from tableToBytes.",
  );
}
