/** The address of a view: `#/try?engine=cpu`. What stands behind `?` is the view's own: what is chosen there, so that a link brings it back. */

const VIEWS = ["try", "bench", "code"];

export interface Route {
  readonly name: string;
  readonly parameters: URLSearchParams;
}

/** What the hash says; the first view where it says nothing that is known. */
export function route(): Route {
  const [, path = "", query = ""] = /^#\/?([^?]*)\??(.*)$/.exec(location.hash) ?? [];
  return { name: VIEWS.includes(path) ? path : VIEWS[0], parameters: new URLSearchParams(query) };
}

/** Puts what is chosen in a view into the address, if the view is shown: no step back leads to what it was before. */
export function noteParameters(name: string, parameters: URLSearchParams): void {
  if (route().name !== name) return;
  const query = parameters.size > 0 ? `?${parameters}` : "";
  const hash = `#/${name}${query}`;
  if (location.hash !== hash) history.replaceState(null, "", hash);
}
