// Makes a memory of Python compress better: what Python does not write in it is zero, and what its
// garbage collector goes through is in the order of addresses. Neither matters to Python.

/** What CPython allocates for: PyMemAllocatorDomain, for bytes, for itself and for objects. */
const DOMAINS = [0, 1, 2];
/** The fields of PyMemAllocatorEx, of four bytes each. */
const [MALLOC, CALLOC, REALLOC, FREE, FIELDS] = [1, 2, 3, 4, 5];

/** Zeros in all that Python allocates or frees from now on, until the result is called. */
export function zeroed(python) {
  // a chunk of dlmalloc has its size before it, with flags, and its last word belongs to the next one
  const room = (at) => (python.HEAPU32[at / 4 - 1] & ~7) - 4;
  const zeros = (at, from = 0) =>
    at && python.HEAPU8.fill(0, at + from, at + room(at));
  const undo = DOMAINS.map((domain) => {
    const own = python._malloc(4 * FIELDS);
    python._PyMem_GetAllocator(domain, own);
    const fields = [...python.HEAPU32.subarray(own / 4, own / 4 + FIELDS)];
    const [malloc, realloc, free] = [MALLOC, REALLOC, FREE].map((field) =>
      python.wasmTable.get(fields[field]),
    );
    const allocated = (context, size) => {
      const at = malloc(context, size);
      zeros(at);
      return at;
    };
    fields[MALLOC] = python.addFunction(allocated, "iii");
    fields[CALLOC] = python.addFunction(
      (context, count, size) => allocated(context, count * size),
      "iiii",
    );
    fields[REALLOC] = python.addFunction((context, at, size) => {
      const kept = Math.min(at && room(at), size);
      const moved = realloc(context, at, size);
      zeros(moved, kept);
      return moved;
    }, "iiii");
    fields[FREE] = python.addFunction((context, at) => {
      zeros(at);
      free(context, at);
    }, "vii");
    const ours = python._malloc(4 * FIELDS);
    python.HEAPU32.set(fields, ours / 4);
    python._PyMem_SetAllocator(domain, ours);
    python._free(ours);
    return () => {
      python._PyMem_SetAllocator(domain, own);
      python._free(own);
    };
  });
  return () => undo.forEach((end) => end());
}

/** Put the list of the objects that are collected with the one at `object` in order; its head's address. */
export function ordered({ HEAPU32 }, object) {
  const NEXT = 0;
  const PREVIOUS = 1;
  const first = object - 8; // PyGC_Head is before the object
  const list = [];
  let at = first;
  do {
    list.push(at);
    at = HEAPU32[at / 4 + NEXT];
  } while (at !== first);
  list.sort((a, b) => a - b);
  list.forEach((node, k) => {
    const next = list[(k + 1) % list.length];
    HEAPU32[node / 4 + NEXT] = next;
    HEAPU32[next / 4 + PREVIOUS] = node;
  });
  // it is in the interpreter's state, which is static: all objects come after it
  return list[0];
}
