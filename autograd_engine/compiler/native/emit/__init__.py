"""From scheduled loops to C text. Nothing here knows an operation."""
