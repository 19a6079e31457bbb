"""Rows of the table: update rules of optimizers."""
