/** Values as Node's console shows them, near enough to compare with what a page of the documentation says. */

const MOST_ITEMS = 100;
const DEEPEST = 2;
/** Longer than this an object or array takes a line for each of its parts. */
const WIDTH = 72;

/** How a class says what Node shows of it. */
const CUSTOM = Symbol.for("nodejs.util.inspect.custom");

export function inspect(value: unknown, depth = 0): string {
  if (typeof value === "string") return quoted(value);
  if (typeof value === "bigint") return `${value}n`;
  if (Object.is(value, -0)) return "-0";
  if (typeof value === "function") return `[Function: ${value.name || "(anonymous)"}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const own = (value as { readonly [CUSTOM]?: unknown })[CUSTOM];
  if (typeof own === "function") {
    const shown: unknown = own.call(value, DEEPEST - depth, {}, (part: unknown) => inspect(part, depth));
    if (shown !== value) return typeof shown === "string" ? shown : inspect(shown, depth);
  }
  if (value instanceof Error) return value.stack?.includes(value.message) ? value.stack : String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof RegExp) return String(value);
  if (depth > DEEPEST) return Array.isArray(value) ? "[Array]" : "[Object]";
  const inner = (part: unknown) => inspect(part, depth + 1);
  if (Array.isArray(value)) return listed(value.length, (i) => inner(value[i]), ["[", "]"], "");
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    const array = value as unknown as ArrayLike<number | bigint>;
    return listed(array.length, (i) => inner(array[i]), ["[", "]"], `${nameOf(value)}(${array.length}) `);
  }
  if (value instanceof Map) {
    const entries = [...value];
    return listed(
      entries.length,
      (i) => entries[i].map(inner).join(" => "),
      ["{", "}"],
      `Map(${value.size}) `,
    );
  }
  if (value instanceof Set) {
    const items = [...value];
    return listed(items.length, (i) => inner(items[i]), ["{", "}"], `Set(${value.size}) `);
  }
  const entries = Object.entries(value);
  const name = nameOf(value);
  const key = (text: string) => (/^[A-Za-z_$][\w$]*$/.test(text) ? text : quoted(text));
  return listed(
    entries.length,
    (i) => `${key(entries[i][0])}: ${inner(entries[i][1])}`,
    ["{", "}"],
    name === "Object" ? "" : `${name} `,
  );
}

function nameOf(value: object): string {
  return Object.getPrototypeOf(value)?.constructor?.name ?? "[Object: null prototype]";
}

function quoted(text: string): string {
  const quote = !text.includes("'") ? "'" : !text.includes('"') ? '"' : "`";
  return quote + text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n") + quote;
}

function listed(
  length: number,
  part: (i: number) => string,
  [open, close]: readonly [string, string],
  prefix: string,
): string {
  if (length === 0) return `${prefix}${open}${close}`;
  const parts = Array.from({ length: Math.min(length, MOST_ITEMS) }, (_, i) => part(i));
  if (length > MOST_ITEMS) parts.push(`... ${length - MOST_ITEMS} more items`);
  const line = parts.join(", ");
  if (line.length <= WIDTH && !line.includes("\n")) return `${prefix}${open} ${line} ${close}`;
  return `${prefix}${open}\n${parts.map((text) => `  ${text.replaceAll("\n", "\n  ")}`).join(",\n")}\n${close}`;
}
