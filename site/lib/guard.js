// Says so when a script of the page, or a module that it imports, cannot be loaded. A classic
// script, ahead of the modules: it has to be there before they fail.

addEventListener(
  "error",
  ({ target }) => {
    if (!(target instanceof HTMLScriptElement)) return;
    const status = document.querySelector(".status");
    if (!status) return;
    status.classList.add("failed");
    status.classList.remove("busy");
    status.textContent = `The page could not load ${target.src} or a file that it imports.`;
  },
  true, // such errors do not bubble
);
