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

/** Markdown without its marks: links are their labels. */
export function plainText(text) {
  return text
    .replace(/<[^>]*>/g, "")
    .replace(/!\[[^\]]*\]\([^)]*\)/g, "")
    .replace(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[`*]|\\(?=[<>_[\]|])/g, "")
    .replace(/\s+/g, " ")
    .trim();
}

/** Most characters that search engines and chats show of a description. */
const LONGEST = 200;
/** A shorter paragraph does not say what a page is about. */
const SHORTEST = 40;

/**
 * What a page is about, in a sentence or two: its first paragraphs of prose.
 * @param text Markdown
 * @param title stands before a text that is too short by itself
 */
export function descriptionOf(text, title = titleOf(text) ?? "") {
  const prose = pieces(text.replace(/^---\n[\s\S]*?\n---\n/, ""))
    .filter(({ isCode }) => !isCode)
    .map((piece) => piece.text)
    .join("\n\n");
  const paragraphs = prose
    .split(/\n\s*\n/)
    .map((paragraph) => paragraph.trim())
    .filter(
      (paragraph) =>
        /^[\p{L}\p{N}"“`*[]/u.test(paragraph) && !/^(?:\*\*[^*]*\*\*|\d+\..*|\* .*)$/.test(paragraph),
    )
    .map(plainText)
    .filter((paragraph) => /\p{L}/u.test(paragraph));
  let description = "";
  for (const paragraph of paragraphs) {
    description = `${description} ${paragraph}`.trim();
    if (description.length >= SHORTEST) break;
  }
  if (description.length < SHORTEST)
    description = `${plainText(title)}: ${description || "the API of warpmap."}`;
  return shortened(description);
}

/** Whole sentences if they fit, else whole words. */
function shortened(text) {
  if (text.length <= LONGEST) return text;
  const cut = text.slice(0, LONGEST);
  const sentence = cut.lastIndexOf(". ");
  return sentence >= SHORTEST ? cut.slice(0, sentence + 1) : `${cut.slice(0, cut.lastIndexOf(" "))} …`;
}
