"""Kernels in C for large arrays, with sizes known when they run: see docs/design/kernels.md."""
