/** Text for SVG: escaped, measured and wrapped without a browser. Widths are estimates on the wide side (DejaVu Sans), so what is kept apart here never overlaps. */

const NARROW = /[il.,:;'|!()[\]tfjrI·/ -]/;
const WIDE = /[mwMW@%…—×]/;
const TALL = /[A-Z0-9_+=<>^~]/;

/** Width in pixels of a line of text. */
export function widthOf(text: string, fontSize: number): number {
  let ems = 0;
  for (const character of text) {
    if (NARROW.test(character)) ems += 0.39;
    else if (WIDE.test(character)) ems += 0.97;
    else if (TALL.test(character)) ems += 0.68;
    else ems += 0.62;
  }
  return ems * fontSize;
}

/** Lines of at most `width` pixels, broken between words. */
export function wrap(text: string, width: number, fontSize: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(longer, fontSize) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return line === "" ? lines : [...lines, line];
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Text for XML: marks escaped, and the control characters that XML 1.0 forbids taken out. */
export function escaped(text: string): string {
  const printable = [...text].filter((character) => character >= " ").join("");
  return printable.replace(/[&<>"]/g, (mark) => ENTITIES[mark]);
}

/** An element; attributes that are undefined are left out, numbers are rounded to hundredths. */
export function element(
  name: string,
  attributes: Readonly<Record<string, string | number | undefined>>,
  content?: string,
): string {
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== undefined)
    .map(([key, value]) => ` ${key}="${typeof value === "number" ? rounded(value) : escaped(String(value))}"`)
    .join("");
  return content === undefined ? `<${name}${written}/>` : `<${name}${written}>${content}</${name}>`;
}

/** A coordinate. */
export function rounded(value: number): string {
  return String(Math.round(value * 100) / 100);
}

export interface TextOptions {
  readonly size?: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly class?: string;
  readonly transform?: string;
}

/** One line of text at its baseline. */
export function textAt(x: number, y: number, content: string, options: TextOptions = {}): string {
  const { size = 12, anchor, class: name, transform } = options;
  return element(
    "text",
    { x, y, "font-size": size, "text-anchor": anchor, class: name, transform },
    escaped(content),
  );
}
