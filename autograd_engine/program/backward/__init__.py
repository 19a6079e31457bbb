"""The backward half of a program, appended to its block; `append_backward` has the way."""
