"""Public functions: sums, statistics, searches, histograms."""
