"""Twelve training steps in every library that is installed, timed side by side.

`workloads` says what is computed and on what data, the modules named ``steps_*`` how each library
computes it, `measure` times the candidates of one workload in a process of its own, `report` writes
down what was found. ``python -m benchmarks.compare`` runs them.
"""
