"""Pooling in C."""
