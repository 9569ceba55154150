// As much of a DOM as Observable Plot needs to write SVG in Node: elements, attributes, text. No parser, no styles that are computed,
// no events. The same calls give the same text.
const SVG = "http://www.w3.org/2000/svg";
const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
/** Text for markup. */
export const escaped = (text) => String(text).replace(/[&<>"]/g, (character) => escapes[character]);

class Text {
  constructor(text) {
    this.textContent = String(text);
  }
  get outerHTML() {
    return escaped(this.textContent);
  }
}

/** Declarations in the order in which they were set, as the attribute `style`. */
class Style {
  #declarations = new Map();
  setProperty(name, value) {
    this.#declarations.set(name, value);
  }
  removeProperty(name) {
    this.#declarations.delete(name);
  }
  getPropertyValue(name) {
    return this.#declarations.get(name) ?? "";
  }
  get cssText() {
    return [...this.#declarations].map(([name, value]) => `${name}:${value}`).join(";");
  }
}

class Element {
  #attributes = new Map();
  childNodes = [];
  parentNode = null;
  style = new Style();

  constructor(ownerDocument, namespaceURI, tagName) {
    Object.assign(this, { ownerDocument, namespaceURI, tagName });
  }

  setAttribute(name, value) {
    this.#attributes.set(name, String(value));
  }
  setAttributeNS(_space, name, value) {
    this.setAttribute(name, value);
  }
  getAttribute(name) {
    return this.#attributes.get(name) ?? null;
  }
  hasAttribute(name) {
    return this.#attributes.has(name);
  }
  removeAttribute(name) {
    this.#attributes.delete(name);
  }

  get firstChild() {
    return this.childNodes[0] ?? null;
  }
  get children() {
    return this.childNodes.filter((child) => child instanceof Element);
  }
  get ownerSVGElement() {
    let element = this;
    while (element && element.tagName !== "svg") element = element.parentNode;
    return element;
  }
  appendChild(child) {
    return this.insertBefore(child, null);
  }
  append(...children) {
    for (const child of children) this.appendChild(typeof child === "string" ? new Text(child) : child);
  }
  insertBefore(child, next) {
    child.parentNode?.removeChild(child);
    child.parentNode = this;
    const at = next === null || next === undefined ? this.childNodes.length : this.childNodes.indexOf(next);
    this.childNodes.splice(at, 0, child);
    return child;
  }
  removeChild(child) {
    this.childNodes.splice(this.childNodes.indexOf(child), 1);
    child.parentNode = null;
    return child;
  }
  remove() {
    this.parentNode?.removeChild(this);
  }
  set textContent(text) {
    this.childNodes = text === "" ? [] : [new Text(text)];
  }
  get textContent() {
    return this.childNodes.map((child) => child.textContent).join("");
  }

  get outerHTML() {
    const style = this.style.cssText;
    const all = style === "" ? this.#attributes : new Map([...this.#attributes, ["style", style]]);
    const attributes = [...all].map(([name, value]) => ` ${name}="${escaped(value)}"`).join("");
    const content =
      this.tagName === "style" ? this.textContent : this.childNodes.map((child) => child.outerHTML).join("");
    return `<${this.tagName}${attributes}>${content}</${this.tagName}>`;
  }
}

/** What Plot's option `document` takes. */
export const document = {
  createElementNS: (space, name) => new Element(document, space, name),
  createElement: (name) => new Element(document, SVG, name),
  createTextNode: (text) => new Text(text),
};
document.documentElement = new Element(document, SVG, "svg");
