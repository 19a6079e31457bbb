"""Operators by the types, slots and attributes that Paddle 2.6 has for them."""
