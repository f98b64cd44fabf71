"""Composable automatic differentiation that compiles to WebAssembly."""

__version__ = "0.1.0"
