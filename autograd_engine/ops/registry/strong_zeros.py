"""Gradients in which an exact zero stays one, whatever it is multiplied by."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from types import TracebackType

from autograd_engine.core.checks import left_unentered

__all__ = ["strengthened", "strong_zeros", "zeros_are_strong"]


class _Mode(threading.local):
    enabled: bool = False


_mode = _Mode()


def zeros_are_strong() -> bool:
    """Whether this thread is inside `strong_zeros`."""
    return _mode.enabled


@contextlib.contextmanager
def strengthened(strong: bool) -> Iterator[None]:
    """Inside the ``with`` block zeros are strong, or not, whatever they are outside."""
    before = _mode.enabled
    _mode.enabled = strong
    try:
        yield
    finally:
        _mode.enabled = before


class strong_zeros:  # noqa: N801 - a context manager, like no_grad
    """Where the cotangent that reaches an operation is exactly 0, so is what it hands on.

    A rule multiplies its cotangent by a derivative. Where that is infinite or NaN, 0 times it is
    NaN, which is how the branch that `where` did not take spoils the gradient of the one it took.
    Inside this context the product is 0: element by element for elementwise operations, and for the
    others where their whole cotangent is 0.

    It applies to the backward passes that run inside it, eagerly, and to the gradient operators
    that are appended inside it, in programs; to the same bits in both. It costs a comparison and a
    selection for each operation, and hides a NaN that may be a mistake: hence not the default.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    >>> y = paddle.where(x > 0.0, paddle.sqrt(x), x).sum()
    >>> with paddle.strong_zeros():
    ...     y.backward()
    >>> x.grad.tolist()
    [1.0, 0.5]
    """

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(_mode.enabled)
        _mode.enabled = True

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if not self._before:
            raise left_unentered(self)
        _mode.enabled = self._before.pop()
