// Where a module cannot be read: of syntax errors, only a script in the page is told the line.

/** The line of the mistake in the module at this address; 0 if there is none. @param {string} address @returns {Promise<number>} */
export const lineOf = (address) =>
  new Promise((resolve) => {
    const script = document.createElement("script");
    const hear = (/** @type {ErrorEvent} */ event) => {
      if (event.filename !== address) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      end(event.lineno);
    };
    const end = (/** @type {number} */ line) => {
      removeEventListener("error", hear, true);
      script.remove();
      resolve(line);
    };
    addEventListener("error", hear, true);
    script.onload = script.onerror = () => end(0);
    script.type = "module";
    script.src = address;
    document.head.append(script);
  });
