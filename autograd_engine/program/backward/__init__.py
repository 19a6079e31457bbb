"""The backward half of a program, appended to its block."""
