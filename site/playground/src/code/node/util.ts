/** `node:util` for programs of the view Code: parseArgs, with options of the types string and boolean. */
export { inspect } from "../worker/inspect.js";

interface ParseArgsOptions {
  readonly args?: readonly string[];
  readonly options?: Readonly<Record<string, { readonly type: "string" | "boolean" }>>;
  readonly allowPositionals?: boolean;
}

/** @throws TypeError for arguments that the options do not have, as Node's does */
export function parseArgs({ args, options = {}, allowPositionals = false }: ParseArgsOptions) {
  const values: Record<string, string | boolean> = {};
  const positionals: string[] = [];
  const given = [
    ...(args ?? (globalThis as unknown as { process: { argv: string[] } }).process.argv.slice(2)),
  ];
  while (given.length > 0) {
    const argument = given.shift() as string;
    if (!argument.startsWith("--")) {
      if (!allowPositionals)
        throw new TypeError(`Unexpected argument '${argument}'. This program takes none.`);
      positionals.push(argument);
      continue;
    }
    const [name, own] = argument.slice(2).split(/=(.*)/s);
    const option = options[name];
    if (!option) throw new TypeError(`Unknown option '--${name}'`);
    if (option.type === "boolean") {
      values[name] = true;
      continue;
    }
    const value = own ?? given.shift();
    if (value === undefined) throw new TypeError(`Option '--${name} <value>' argument missing`);
    values[name] = value;
  }
  return { values, positionals };
}
