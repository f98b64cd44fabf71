// Run by `rose freeze` in a page that asked to be loaded anew: what it had stored then is there, see navigation.js.
({ local, session, cookie }) => {
  if (self !== top || origin === "null") return; // before it comes
  for (const [name, value] of local) localStorage.setItem(name, value);
  for (const [name, value] of session) sessionStorage.setItem(name, value);
  for (const one of cookie.split("; ")) document.cookie = one;
};
