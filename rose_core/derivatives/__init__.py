"""Derivatives of programs: forward, and in reverse by a forward pass that is transposed."""
