"""Equations, minima, integrals: found by loops, differentiated by what they are in mathematics."""
