// The order of a dictionary's strings beside that of Buffers.
import fc from "fast-check";
import { expect, it } from "vitest";
import { ranksOf } from "../../../src/relational/aggregate/ranks.js";
import { rounds } from "../../helpers/rounds.js";

/** Strings with gaps between them. */
function stringsOf(texts: readonly Uint8Array[]) {
  const starts = new Uint32Array(texts.length);
  const ends = new Uint32Array(texts.length);
  let at = 0;
  for (const [i, text] of texts.entries()) {
    starts[i] = at + 1;
    ends[i] = at = starts[i] + text.length;
  }
  const bytes = new Uint8Array(at).fill(255);
  for (const [i, text] of texts.entries()) bytes.set(text, starts[i]);
  return { starts, ends, bytes };
}

it("strings rank as their bytes do, equal ones alike", () => {
  // few values a byte and common beginnings, so that strings begin alike, end in zeros and come again
  const text = fc
    .array(fc.constantFrom(0, 1, 97, 255), { maxLength: 12 })
    .map((bytes) => Uint8Array.from(bytes));
  const texts = fc.tuple(text, fc.array(text, { maxLength: 60 }));
  fc.assert(
    fc.property(texts, ([beginning, ends]) => {
      const all = ends.map((end) => Uint8Array.of(...beginning, ...end));
      const different = [...new Set(all.map((each) => Buffer.from(each).toString("hex")))].sort();
      const expected = all.map((each) => different.indexOf(Buffer.from(each).toString("hex")));
      expect(Array.from(ranksOf(stringsOf(all)))).toEqual(expected);
    }),
    { numRuns: rounds(300) },
  );
});
