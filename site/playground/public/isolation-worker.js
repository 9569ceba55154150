// A service worker that answers every request of the playground with what the network says, and the two headers that make a page
// cross-origin isolated. It keeps nothing. src/shell/isolation.ts registers it where the host does not send them.
self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(self.clients.claim()));

self.addEventListener("fetch", (event) => {
  const { request } = event;
  // a browser's own tools ask so; fetch() refuses it
  if (request.cache === "only-if-cached" && request.mode !== "same-origin") return;
  if (new URL(request.url).origin !== self.location.origin) return;
  event.respondWith(withHeaders(request));
});

async function withHeaders(request) {
  const response = await fetch(request);
  if (response.status === 0) return response;
  const headers = new Headers(response.headers);
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Resource-Policy", "same-origin");
  const { status, statusText } = response;
  const empty = status === 204 || status === 205 || status === 304;
  return new Response(empty ? null : response.body, { status, statusText, headers });
}
