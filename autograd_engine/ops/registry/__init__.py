"""How a row is declared and read: operations, compiled pullbacks, namespaces.

No operation is declared here, and none is known by its name.
"""
