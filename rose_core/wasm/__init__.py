"""From instructions to the bytes of a WebAssembly module."""
