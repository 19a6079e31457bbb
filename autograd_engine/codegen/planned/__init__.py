"""Graphs as straight-line NumPy: planned buffers, `out=` everywhere, the bits of eager execution."""

from autograd_engine.codegen.planned.compiled import BoundRun, Planned, compile_planned

__all__ = ["BoundRun", "Planned", "compile_planned"]
