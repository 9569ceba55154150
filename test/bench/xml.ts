/** An element of a document, with the text right inside it. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  text: string;
}

const TAG = /^<(\/?)([A-Za-z][\w:-]*)((?:\s+[A-Za-z][\w:-]*="[^"<]*")*)\s*(\/?)>/;

/** The elements of an XML document, in order of their start tags. @throws where it is not well-formed (no comments, no CDATA, no declarations). */
export function elementsOf(xml: string): XmlElement[] {
  const elements: XmlElement[] = [];
  const open: XmlElement[] = [];
  let at = 0;
  while (at < xml.length) {
    if (xml[at] !== "<") {
      const end = xml.indexOf("<", at);
      const text = xml.slice(at, end < 0 ? xml.length : end);
      const parent = open.at(-1);
      if (parent) parent.text += decoded(text);
      else if (text.trim() !== "") throw new Error(`text outside the root: ${text}`);
      at += text.length;
      continue;
    }
    const tag = TAG.exec(xml.slice(at, at + 20_000));
    if (tag === null) throw new Error(`no tag: ${xml.slice(at, at + 80)}`);
    const [whole, closing, name, attributes, empty] = tag;
    if (closing) {
      if (open.pop()?.name !== name) throw new Error(`</${name}> closes another element`);
    } else {
      if (open.length === 0 && elements.length > 0) throw new Error(`a second root: ${name}`);
      const element = { name, attributes: attributesOf(attributes), text: "" };
      elements.push(element);
      if (!empty) open.push(element);
    }
    at += whole.length;
  }
  if (open.length > 0) throw new Error(`not closed: ${open.map(({ name }) => name).join(", ")}`);
  return elements;
}

function attributesOf(text: string): Record<string, string> {
  const attributes: Record<string, string> = {};
  for (const [, name, value] of text.matchAll(/([A-Za-z][\w:-]*)="([^"]*)"/g)) {
    if (name in attributes) throw new Error(`${name} comes twice`);
    attributes[name] = decoded(value);
  }
  return attributes;
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(/&([^;\s]*);?/g, (all, name) => {
    if (!Object.hasOwn(ENTITIES, name) || !all.endsWith(";")) throw new Error(`not an entity: ${all}`);
    return ENTITIES[name];
  });
}
