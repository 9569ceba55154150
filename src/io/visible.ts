/** Text from outside made safe to print: names in files, arguments, what drivers say. */

/** What a terminal would act on, or what would break a line or turn it around. */
const UNSAFE = /[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;
const SHORT_ESCAPES: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/**
 * Control characters as escapes: a newline must not break a table or a log's line, nor an escape sequence the terminal.
 */
export function visible(text: string): string {
  return text.replace(UNSAFE, (character) => SHORT_ESCAPES[character] ?? unicodeEscape(character));
}

/** JSON in one line. What JSON itself leaves as it is is escaped, too. */
export function jsonLine(value: unknown): string {
  return `${JSON.stringify(value).replace(UNSAFE, unicodeEscape)}\n`;
}

function unicodeEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
