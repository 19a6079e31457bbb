"""The class `Layer`: attributes, hooks, state, copies."""
