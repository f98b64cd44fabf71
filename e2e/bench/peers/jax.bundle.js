// Bundled (bundle.mjs): jax-js. Its backends for graphics cards stay files of their own, which nobody loads.

export * from "@jax-js/jax";
