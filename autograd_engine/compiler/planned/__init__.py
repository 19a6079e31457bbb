"""Graphs as straight-line NumPy on planned buffers, with the bits of eager execution."""

from autograd_engine.compiler.planned.compiled import BoundRun, Planned, compile_planned

__all__ = ["BoundRun", "Planned", "compile_planned"]
