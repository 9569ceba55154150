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
  const page = id.split("#")[0];
  const name = page.slice(page.lastIndexOf("/") + 1, -".html".length);
  const isOf = (names) => names.split(" ").includes(name);
  if (page.includes("/benchmarks/") || isOf("contributing architecture changelog measurements")) return 0.2;
  if (page.includes("/api/") || isOf("documentation")) return 0.4;
  if (page.includes("/internals/") || isOf("larger-than-memory")) return 0.5;
  if (page.includes("/recipes/") || isOf("install errors first-map join groups")) return 1.6;
  return 1;
}

/** Leaves out of a query what every page has, and adds what others call the same. Goes to the browser as text, too. */
export function processTerm(term) {
  const word = term.toLowerCase();
  if (/^(a|an|and|can|do|for|how|i|in|is|it|not|of|on|or|the|to|with)$/.test(word)) return null;
  const synonyms = [
    [/^(upsert|upserts|put|overwrite)$/, "insertorassign which insert"],
    [/^(de)?seriali[sz](e|ation|ing)$|^(persist|snapshot)$/, "save load tobytes"],
    [/^(dedupe?|dedup(lication|ing)|deduplicat(e|es|ing|ion)|uniq|unique)$/, "duplicates distinct"],
    [/^(delete|remove)$/, "erase"],
    [/^(lookup|get|vlookup)$/, "find"],
    [/^(react|vue|svelte|angular|solid)$/, "page worker"],
    [/^(distinct|cardinality|nunique)$/, "countdistinct different"],
    [/^(pivot|summari[sz]e|rollup|aggregation)$/, "group aggregate"],
    [/^(multithread(ed|ing)?|parallelism|sharedarraybuffer)$/, "threads"],
    [/^(oom|heap)$/, "memory"],
    [/^(hashmap|dictionary|dict)$/, "map"],
  ];
  const also = synonyms.filter(([words]) => words.test(word)).flatMap(([, others]) => others.split(" "));
  return also.length > 0 ? [word, ...also] : word;
}
