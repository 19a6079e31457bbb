"""For type checkers: calls that take what another function takes, and return what it returns.

A layer is called as its ``forward`` is, and a `PyLayer` is applied as its ``forward`` is without
the context.
"""

from __future__ import annotations

from typing import Any, ParamSpec, Protocol, TypeVar

__all__ = ["HasForward", "HasLayerForward"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True)


class HasForward(Protocol[P, R_co]):
    """A layer."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class HasLayerForward(Protocol[P, R_co]):
    """A PyLayer: a class whose static ``forward`` takes a context first."""

    @staticmethod
    def forward(ctx: Any, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...
