"""Programs: blocks, operators and variables, what builds them, and what rewrites them.

The second interpreter of the table, which writes operators. It runs nothing.
"""
