"""Gradients in which an exact zero stays one, whatever it is multiplied by."""

from __future__ import annotations

from contextlib import AbstractContextManager

from autograd_engine.core.overrides import OverridingBlock, Replaced, Setting

__all__ = ["strengthened", "strong_zeros", "zeros_are_strong"]


_strong = Setting("autograd_engine.strong_zeros", False)


def zeros_are_strong() -> bool:
    """Whether this thread, or this asyncio task, is inside `strong_zeros`."""
    return _strong.get()


def strengthened(strong: bool) -> AbstractContextManager[None]:
    """Inside the ``with`` block zeros are strong, or not, whatever they are outside."""
    return _strong.replaced(strong)


class strong_zeros(OverridingBlock):  # noqa: N801 - a context manager, like no_grad
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

    _overrides = _strong.overrides

    def _override(self) -> Replaced[bool]:
        return Replaced(True)
