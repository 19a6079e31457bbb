"""From loops to fewer and better ordered loops. Nothing here knows an operation."""
