"""Branches and loops of a program as those of XLA; each module registers its kinds of operators."""
