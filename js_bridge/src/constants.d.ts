// Replaced by build/bundle.mjs.

/** The version of `rose_core`, "0.1.0". */
declare const __VERSION__: string;
/** The file name of the wheel, which lies next to the bundle. */
declare const __WHEEL__: string;
/** Changes with every byte of the core or of the Python runtime. */
declare const __BUILD__: string;
