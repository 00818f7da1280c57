/* Keeps what a visitor has opened for when there is no network, and fetches nothing ahead. */

const NAME = `attention-lab-${"VERSION"}`;
const HAS_LARGE_MODELS = Boolean("LARGE"); // which want threads: a page that is isolated has them
const worker = /** @type {any} */ (globalThis);

worker.addEventListener("install", (/** @type {any} */ event) => event.waitUntil(worker.skipWaiting()));

worker.addEventListener("activate", (/** @type {any} */ event) => {
  const forget = async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith("attention-lab-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(forget());
});

/* What the first page fetched before this was there; a browser has it at hand. */
worker.addEventListener("message", (/** @type {any} */ event) => {
  const keep = async (/** @type {string} */ address) => {
    const cache = await caches.open(NAME);
    if (await cache.match(address, { ignoreSearch: true })) return;
    const answer = await fetch(address, { cache: "force-cache" });
    if (answer.ok) await cache.put(withoutSearch(address), answer);
  };
  const own = event.data.filter((/** @type {string} */ each) => each.startsWith(worker.registration.scope));
  event.waitUntil(Promise.allSettled(own.map(keep)));
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(worker.registration.scope))
    event.respondWith(answer(request).then((given) => (wantsThreads(request) ? isolated(given) : given)));
});

/** Whether it asks for Explore's page, or for the program of one of its threads. @param {Request} request */
function wantsThreads({ url, mode, destination }) {
  const isExplore = mode === "navigate" && withoutSearch(url) === worker.registration.scope;
  return HAS_LARGE_MODELS && (isExplore || destination === "worker");
}

/** The answer as that of a page which shares its process with no other site. @param {Response} given */
function isolated(given) {
  if (!given.ok) return given;
  const headers = new Headers(given.headers);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cross-Origin-Embedder-Policy", "require-corp");
  return new Response(given.body, { status: given.status, headers });
}

/** @param {string} address */
function withoutSearch(address) {
  const { origin, pathname } = new URL(address);
  return origin + pathname;
}

/* Documents come from the network where there is one, so that a newer site is seen at once; other files are
   named by what is in them. */
/** @param {Request} request */
async function answer(request) {
  const cache = await caches.open(NAME);
  const kept = await cache.match(request, { ignoreSearch: true });
  const isDocument = request.mode === "navigate";
  if (kept && !isDocument) return kept;
  try {
    const fresh = await fetch(request);
    if (fresh.ok && !fresh.redirected) await cache.put(withoutSearch(request.url), fresh.clone());
    return fresh;
  } catch (error) {
    if (kept) return kept;
    const { origin, pathname, search } = new URL(request.url);
    if (isDocument && !pathname.endsWith("/")) return Response.redirect(`${origin}${pathname}/${search}`);
    throw error;
  }
}
