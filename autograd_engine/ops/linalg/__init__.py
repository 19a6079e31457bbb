"""Rows of the table: products, decompositions, inverses, Fourier transforms."""
