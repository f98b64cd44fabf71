// Written by `rose freeze --offline`: the service worker with which this site works without a network.
//
// With a network, all is asked from the network, so that nothing is ever out of date.

/** Other sites of the same host have their own. */
const CACHE = `rose-offline ${registration.scope}`;

/** All that the pages load, which is kept from the start; what else they ask for is kept when it comes. */
const FILES = ["FILES"].map((path) => new URL(path, location.href).href);

self.addEventListener("install", (event) => {
  self.skipWaiting();
  event.waitUntil(caches.open(CACHE).then((cache) => cache.addAll(FILES)));
});

/** Let go of what belonged to an earlier version. */
const clean = async () => {
  const cache = await caches.open(CACHE);
  for (const request of await cache.keys())
    if (!FILES.includes(request.url)) await cache.delete(request);
  await self.clients.claim();
};

self.addEventListener("activate", (event) => event.waitUntil(clean()));

const answer = async (event) => {
  const { request } = event;
  const cache = await caches.open(CACHE);
  try {
    const response = await fetch(request);
    // the page has it while it is kept; what cannot be (the disk is full) is shown all the same
    if (response.status === 200)
      event.waitUntil(cache.put(request, response.clone()).catch(() => {}));
    return response;
  } catch (error) {
    const kept = await cache.match(request);
    if (kept) return kept;
    // the query of a page is as a rule for its scripts, which read it themselves
    const page =
      request.mode === "navigate" &&
      (await cache.match(request, { ignoreSearch: true }));
    if (page) return page;
    throw error;
  }
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  const isStream = request.headers.get("accept") === "text/event-stream";
  if (
    request.method === "GET" &&
    !isStream &&
    new URL(request.url).origin === location.origin
  )
    event.respondWith(answer(event));
});
