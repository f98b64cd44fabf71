/* Put by `rose freeze` in front of the scripts of a page's own workers: the page is told what they compile. */
(() => {
  const channel = new BroadcastChannel("rose freeze");
  const name = crypto.randomUUID();
  let count = 0;
  channel.postMessage({ isThere: true });
  globalThis.roseFreezer = async (promise, key, index) => {
    const id = `${name} ${++count}`;
    const tell = (more) => channel.postMessage({ id, key, index, ...more });
    tell();
    const beat = setInterval(tell, 500);
    try {
      const file = await promise;
      tell({ isOver: true, file: key && file });
    } catch ({ name, message }) {
      tell({ isOver: true, error: { name, message } });
    }
    clearInterval(beat);
  };
})();
