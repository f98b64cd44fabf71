// Files of the reader's: chosen in a field, or dropped anywhere on the page.

/**
 * @param {HTMLInputElement} field
 * @param {Element} place  has the class `over` while a file is held over the page
 * @param {(file: File) => void} take
 */
export const onFile = (field, place, take) => {
  /** @param {FileList | null | undefined} files */
  const first = (files) => {
    if (files?.length) take(files[0]);
  };
  field.addEventListener("change", () => {
    first(field.files);
    field.value = ""; // so that the same file can be chosen again
  });
  const hasFiles = (/** @type {DragEvent} */ { dataTransfer }) =>
    dataTransfer?.types.includes("Files") ?? false;
  // anywhere on the page: a browser would leave it, and show the file
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    place.classList.add("over");
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) place.classList.remove("over");
  });
  addEventListener("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    place.classList.remove("over");
    first(event.dataTransfer?.files);
  });
};
