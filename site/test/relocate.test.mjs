// The base in scripts and pages is found wherever it stands, or the build fails.
import { expect, it } from "vitest";
import { ANY_BASE } from "../paths.mjs";
import { relocateHtml, relocateScript } from "../relocate.mjs";

/** What a script answers on a site below /a/b/. */
function answer(script) {
  globalThis.siteBase = "/a/b/";
  return new Function(`${relocateScript(script)}; return value;`)();
}

it("replaces the base in strings and templates", () => {
  expect(answer(`const value = "${ANY_BASE}x.html"`)).toBe("/a/b/x.html");
  expect(answer(`const value = '{"a":"${ANY_BASE}","b":"${ANY_BASE}c"}'`)).toBe('{"a":"/a/b/","b":"/a/b/c"}');
  expect(answer(`const name = "n"; const value = \`\${name}${ANY_BASE}\${name}\``)).toBe("n/a/b/n");
  expect(answer(`const value = "nothing"`)).toBe("nothing");
});

it("fails where it cannot", () => {
  expect(() => relocateScript(`import "${ANY_BASE}x.js"`)).toThrow("cannot be replaced");
  expect(() => relocateScript(`const value = { "${ANY_BASE}": 1 }`)).toThrow("cannot be replaced");
});

it("leads up from a page, and tells its scripts where the site is", () => {
  const html = `<head></head><a href="${ANY_BASE}x.html"></a><script>const value="${ANY_BASE}"</script>`;
  const changed = relocateHtml(html, "api/index/y.html");
  expect(changed).toContain(`<a href="../../x.html">`);
  expect(changed).toContain(`new URL("../../",location.href)`);
  expect(changed).toContain("globalThis.siteBase)</script>");
});
