"""These are read by type checkers, and are no tests."""

collect_ignore = ["mistakes.py", "user_program.py"]
