"""For type checkers: calls that take what another function takes, and return what it returns.

A layer is called as its ``forward`` is, a `PyLayer` is applied as its ``forward`` is without the
context, and `to_static` and the gradient modes leave the signature of what they decorate.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

if TYPE_CHECKING:
    from autograd_engine.jit.static_function import StaticFunction
    from autograd_engine.nn.layer.base.layer import Layer

__all__ = ["HasForward", "HasLayerForward", "ToStatic"]

P = ParamSpec("P")
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)
L = TypeVar("L", bound="Layer")


class HasForward(Protocol[P, R_co]):
    """A layer."""

    def forward(self, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class HasLayerForward(Protocol[P, R_co]):
    """A PyLayer: a class whose static ``forward`` takes a context first."""

    @staticmethod
    def forward(ctx: Any, /, *args: P.args, **kwargs: P.kwargs) -> R_co: ...


class ToStatic(Protocol):
    """What `to_static` returns without a function: a decorator."""

    @overload  # a layer can be called, too
    def __call__(self, function: L) -> L: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, function: Callable[P, R]) -> StaticFunction[P, R]: ...
