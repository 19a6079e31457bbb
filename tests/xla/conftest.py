"""What is beside is run by the test, each in a process of its own."""

collect_ignore = [
    *("elsewhere.py", "flow.py", "gradients.py", "interrupts.py", "residence.py", "rows.py"),
    "steps.py",
]
