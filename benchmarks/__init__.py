"""What the engine costs: single operations in `micro`, trainings in `suite`, files in `examples`.

Nothing here is part of the package. `compare` measures beside other systems, `before_after` beside
another checkout.
"""
