"""Rows of the table: convolution, pooling, normalization, activations, losses, recurrence."""
