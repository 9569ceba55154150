// Markdown as far as the site has to understand it: code and prose, headings, sections.

/** Text in pieces that are blocks of code, or not. */
export function pieces(text) {
  return text
    .split(/^(```[\s\S]*?^```$)/m)
    .map((piece) => ({ isCode: piece.startsWith("```"), text: piece }))
    .filter((piece) => piece.text !== "");
}

/** The text with what `change` makes of everything that is not a block of code. */
export function changeProse(text, change) {
  return pieces(text)
    .map((piece) => (piece.isCode ? piece.text : change(piece.text)))
    .join("");
}

/** The anchor that GitHub gives a heading. VitePress is told to do the same, so links work in both. */
export function anchorOf(heading) {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}

/** The first heading of a page, without marks. */
export function titleOf(text) {
  const [, heading] = /^# (.*)$/m.exec(text) ?? [];
  return heading?.replace(/[`*]/g, "");
}

/** A page cut at its headings of the second level: what stands before the first has the heading null. */
export function sectionsOf(text) {
  const sections = [{ heading: null, lines: [] }];
  let inCode = false;
  for (const line of text.split("\n")) {
    if (line.startsWith("```")) inCode = !inCode;
    const [, heading] = (!inCode && /^## (.*)$/.exec(line)) || [];
    if (heading === undefined) sections.at(-1).lines.push(line);
    else sections.push({ heading, lines: [] });
  }
  return sections.map(({ heading, lines }) => ({ heading, text: lines.join("\n").trim() }));
}

/** Anchors of all headings. */
export function anchorsOf(text) {
  const prose = pieces(text).filter(({ isCode }) => !isCode);
  return prose.flatMap((piece) =>
    Array.from(piece.text.matchAll(/^#+ (.*)$/gm), ([, heading]) => anchorOf(heading)),
  );
}

/** Powers as they are printed: 2²⁷ for 2^27. Headings stay, and with them their anchors; so does inline code. */
export function withPowers(text) {
  return changeProse(text, (prose) =>
    prose.replace(/^#.*$|`[^`]*`|(\d)\^(\d+)/gm, (whole, base, exponent) =>
      base === undefined ? whole : base + exponent.replace(/\d/g, (digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[digit]),
    ),
  );
}
