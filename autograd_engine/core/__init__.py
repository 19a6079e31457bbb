"""What everything stands on: dtypes, sizes, specs, places in the user's code, random numbers.

It imports nothing of the engine but its errors, and knows no operation.
"""
