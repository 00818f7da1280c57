/* Keeps the site for when there is no network: all its files after the first visit, models once opened. */

const NAME = `attention-lab-${"VERSION"}`;
const FILES = ["FILES"];
const worker = /** @type {any} */ (globalThis);

worker.addEventListener("install", (/** @type {any} */ event) => {
  const keep = async () => {
    const cache = await caches.open(NAME);
    await cache.addAll(FILES.map((file) => `./${file}`));
    await worker.skipWaiting();
  };
  event.waitUntil(keep());
});

worker.addEventListener("activate", (/** @type {any} */ event) => {
  const forget = async () => {
    const names = await caches.keys();
    const old = names.filter((name) => name.startsWith("attention-lab-") && name !== NAME);
    await Promise.all(old.map((name) => caches.delete(name)));
    await worker.clients.claim();
  };
  event.waitUntil(forget());
});

worker.addEventListener("fetch", (/** @type {any} */ event) => {
  const { request } = event;
  if (request.method === "GET" && request.url.startsWith(worker.registration.scope))
    event.respondWith(answer(request));
});

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
    if (fresh.ok && !isDocument) await cache.put(request, fresh.clone());
    return fresh;
  } catch (error) {
    if (kept) return kept;
    const { origin, pathname, search } = new URL(request.url);
    if (isDocument && !pathname.endsWith("/")) return Response.redirect(`${origin}${pathname}/${search}`);
    throw error;
  }
}
