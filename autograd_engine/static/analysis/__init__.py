"""What a run will need and do, said before it: memory, operations, and the text of a run."""
