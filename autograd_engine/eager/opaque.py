"""What stands in a graph for an operation that is in no table."""

from __future__ import annotations

from typing import Any, ClassVar, Final

__all__ = ["OpaqueOp"]


class OpaqueOp:
    """The attributes of an `OpDef`, of something that is no elementary operation."""

    attrs: ClassVar[dict[str, Any]] = {}
    multiple = True
    variadic = False
    variadic_output = False
    lazy_cotangents = True
    casts = False
    random = False
    real = False
    tangent: Final = None
    place: Final = None
    broadcasts: Final = None
    untyped: ClassVar[frozenset[str]] = frozenset()
    takes_scattered: ClassVar[frozenset[str]] = frozenset()

    __slots__ = ()
