/** For `plugins` in vite.config.ts: puts what rose.js loads next to the scripts that Vite makes. */
export default function rose(): { name: string };
