// Written by `rose freeze --offline`: the service worker with which this site works without a network.
//
// With a network, all is asked from the network, so that nothing is ever out of date. A service worker of the
// site's own may import this at its end, which is a block for the sake of its names: what it does not answer
// itself is answered here.

{
  /** Other sites of the same host have their own. */
  const CACHE = `rose-offline ${registration.scope}`;

  /** All that the pages load, which is kept from the start; what else they ask for is kept when it comes. */
  const FILES = ["FILES"].map(
    (path) => new URL(`./${path}`, registration.scope).href,
  );

  /** Of what these files hold. When one changes, so does this script: browsers take all of them anew then. */
  const VERSION = "DIGEST";

  /** So many answers are kept of what else is asked for: a page may ask for another one every second. */
  const MOST = 500;

  /** A response as a page may be shown it later, even if the host has sent the browser on for it. */
  const direct = (response) =>
    response.redirected ? new Response(response.body, response) : response;

  /** Keep what the host has now. */
  const keep = async (cache, file) => {
    const response = await fetch(file, { cache: "no-cache" });
    if (response.ok) await cache.put(file, direct(response));
    else
      console.warn(
        `offline (${VERSION}) there is no ${file}: ${response.status}`,
      );
  };

  /** Without the network nothing is installed: the browser tries again. */
  const install = async () => {
    const cache = await caches.open(CACHE);
    await Promise.all(FILES.map((file) => keep(cache, file)));
  };

  self.addEventListener("install", (event) => {
    self.skipWaiting();
    event.waitUntil(install());
  });

  /** Addresses of a page, of which some hosts prefer the last. */
  const namesOf = (page) => [page, page.replace(/(index)?\.html?$/, "")];

  /** The addresses of the site's own files. */
  const OWN = new Set(FILES.flatMap(namesOf));

  /** Let go of what belonged to an earlier version. */
  const clean = async () => {
    const cache = await caches.open(CACHE);
    for (const request of await cache.keys())
      if (!OWN.has(request.url)) await cache.delete(request);
    await self.clients.claim();
  };

  self.addEventListener("activate", (event) => event.waitUntil(clean()));

  /** Let go of what has not been asked for longest: a cache is in the order of what came. */
  const trim = async (cache) => {
    const others = (await cache.keys()).filter(({ url }) => !OWN.has(url));
    for (const request of others.slice(0, -MOST)) await cache.delete(request);
  };

  /** The address of a page without its query, which is as a rule for its scripts: they read it themselves. */
  const pageOf = ({ url }) => url.split(/[?#]/)[0];

  /** Whether a page, or its host, wants nobody to keep a response. */
  const isSecret = (request, response) =>
    request.cache === "no-store" ||
    /no-store/i.test(response.headers.get("cache-control"));

  const answer = async (event) => {
    const { request } = event;
    const opening = caches.open(CACHE);
    opening.catch(() => {}); // whoever needs it is told
    try {
      const response = await fetch(request);
      const isPage = request.mode === "navigate";
      const url = isPage ? pageOf(request) : request.url;
      if (
        response.status === 200 &&
        (OWN.has(url) || !isSecret(request, response))
      ) {
        // the page has it while it is kept; what cannot be (the disk is full) is shown all the same
        const copy = direct(response.clone());
        const keeping = opening.then(async (cache) => {
          await cache.put(isPage ? url : request, copy);
          if (!OWN.has(url)) await trim(cache);
        });
        event.waitUntil(keeping.catch(() => {}));
      }
      return response;
    } catch (error) {
      const cache = await opening;
      const kept = await cache.match(request);
      if (kept) return kept;
      if (request.mode === "navigate") {
        const url = pageOf(request);
        const file = FILES.find((each) => namesOf(each).includes(url));
        const page = await cache.match(file ?? url, { ignoreSearch: true });
        if (page) return page;
        // as hosts do, or addresses in it would begin elsewhere
        if (OWN.has(`${url}/`))
          return Response.redirect(`${url}/${new URL(request.url).search}`);
      }
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
}
