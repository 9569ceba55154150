// What the search finds first: pages that help users, before the API's, and those before benchmarks and what is written for contributors.

/** Options of VitePress's local search. */
export const searchOptions = {
  detailedView: true,
  _render: renderForSearch,
  miniSearch: { searchOptions: { boostDocument, processTerm, boost: { title: 4, text: 2, titles: 2 } } },
};

/** The text that is searched: of a benchmark's report the title alone, its rows would answer every query. */
function renderForSearch(source, env, md) {
  const isReport = /^benchmarks\/(?!index\.md|peers\.md)/.test(env.relativePath);
  return md.render(isReport ? source.split(/^## /m)[0] : source, env);
}

/**
 * The factor of a section's score, by its page. The browser gets this function as text: it names nothing outside itself.
 * @param id the page's path, "#" and the section's anchor
 */
export function boostDocument(id) {
  const path = id.split("#")[0];
  if (/\/(benchmarks\/|(contributing|architecture|changelog|measurements)\.html)/.test(path)) return 0.2;
  if (/\/api\//.test(path)) return 0.4;
  if (/\/(install|errors|faq|first-map|join|groups)\.html|\/recipes\//.test(path)) return 1.6;
  return 1;
}

/** Words that every page has are left out of a query, unless it has no others. Goes to the browser as text, too. */
export function processTerm(term) {
  const word = term.toLowerCase();
  return /^(a|an|and|can|do|for|how|i|in|is|it|not|of|on|or|the|to|with)$/.test(word) ? null : word;
}
