"""What a layer is told about a parameter that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from autograd_engine.errors import ArgumentError
from autograd_engine.nn.initializer import Initializer

__all__ = ["ParamAttr"]


@dataclass(frozen=True)
class ParamAttr:
    """Name, initializer and trainability of a parameter.

    Parameters
    ----------
    name : str, optional
        By default made from the layer's. Two layers given one name share the parameter.
    initializer : Initializer, optional
    trainable : bool

    Examples
    --------
    >>> ParamAttr(name="W").name
    'W'
    """

    name: str | None = None
    initializer: Initializer | None = None
    trainable: bool = True

    @staticmethod
    def of(attr: Any) -> ParamAttr:
        """From what layers take as ``weight_attr``: None, a name, an initializer, a ParamAttr."""
        if attr is None or attr is True:
            return ParamAttr()
        if isinstance(attr, ParamAttr):
            return attr
        if isinstance(attr, str):
            return ParamAttr(name=attr)
        if isinstance(attr, Initializer):
            return ParamAttr(initializer=attr)
        raise ArgumentError(
            f"a parameter attribute must be a ParamAttr, a name, an initializer, None or False; "
            f"got {type(attr).__name__}"
        )
