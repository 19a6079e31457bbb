"""Processes that make batches: channels, shared memory, and what becomes of failures."""
