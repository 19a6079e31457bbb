"""Methods of Tensor that have a backward pass call back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from autograd_engine.autograd.backward_pass import hooks_of, leaf_hooks
from autograd_engine.core.checks import check_callback
from autograd_engine.eager.hooks import Hook, RemovableHandle, Retain
from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import NotDifferentiableError

__all__ = ["register_hook", "register_post_accumulate_grad_hook", "retain_grads"]


def register_hook(self: Tensor, hook: Hook) -> RemovableHandle:
    """Call `hook` with the gradient of this tensor when a backward pass has it.

    Parameters
    ----------
    hook : callable
        ``hook(grad)`` returns None, or a Tensor of the same shape and dtype that takes the place of
        the gradient from here on. Several run in the order of their registration, each on what the
        one before returned.

    Returns
    -------
    RemovableHandle
        ``handle.remove()`` takes the hook away; True the first time.

    Raises
    ------
    NotDifferentiableError
        Where ``stop_gradient`` is True.

    Notes
    -----
    On a leaf, a hook runs once for each pass, with the sum of everything that reached the leaf in
    it, before that is added to ``.grad``. On the result of an operation it runs before the rules
    of the operation do. `paddle.grad` calls the hooks of what it passes and of inputs that are
    results of operations, but no hooks of leaves, whose gradients it does not accumulate. A pass
    writes ``.grad`` when it is through: a hook that raises leaves every gradient as it was.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> handle = x.register_hook(lambda grad: grad * 10.0)
    >>> (x * 3.0).sum().backward()
    >>> x.grad.tolist()
    [30.0, 30.0]
    >>> handle.remove(), handle.remove()
    (True, False)
    """
    _check(self, hook, "register_hook", "grad")
    return hooks_of(self).register(hook)


def retain_grads(self: Tensor) -> None:
    """Keep the gradient of this result of an operation in its ``.grad``, as leaves do.

    Each pass replaces what the one before left. Hooks registered before this call act on the value
    that is kept, later ones do not. A leaf, and a tensor without a gradient, need nothing.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> y = x * 3.0
    >>> y.retain_grads()
    >>> (y * y).sum().backward()
    >>> y.grad.tolist()
    [6.0, 12.0]
    """
    if self._node is None:
        return
    hooks = hooks_of(self)
    if not any(h.__class__ is Retain and h.tensor() is self for h in tuple(hooks.values())):
        hooks.register(Retain(self))
    self._retains = True


def register_post_accumulate_grad_hook(
    self: Tensor, hook: Callable[[Tensor], Any]
) -> RemovableHandle:
    """Call `hook` with this leaf whenever a backward pass has added to its ``.grad``.

    Parameters
    ----------
    hook : callable
        ``hook(leaf)``; what it returns does not matter. It may read, replace and clear
        ``leaf.grad``: to apply an update as soon as the gradient is there, say.

    Returns
    -------
    RemovableHandle

    Raises
    ------
    NotDifferentiableError
        Where ``stop_gradient`` is True, or for the result of an operation.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([1.0, 2.0], stop_gradient=False)
    >>> _ = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad.tolist()))
    >>> (x * 3.0).sum().backward()
    [3.0, 3.0]
    """
    _check(self, hook, "register_post_accumulate_grad_hook", "tensor")
    if self._node is not None:
        raise NotDifferentiableError(
            f"register_post_accumulate_grad_hook: {self.name} is the result of {self._node.name} "
            f"at {self._node.location}, and only leaves accumulate; use register_hook"
        )
    return leaf_hooks(self).after.register(hook)


def _check(tensor: Tensor, hook: Any, method: str, given: str) -> None:
    check_callback(method, "hook", hook, given)
    if tensor._stop and not tensor.stop_gradient:
        raise NotDifferentiableError(
            f"{method}: {tensor.name} holds {tensor.dtype.name}, and no gradient comes to integers "
            "and bools; make it with dtype='float32'"
        )
    if tensor._stop:
        raise NotDifferentiableError(
            f"{method}: {tensor.name} has stop_gradient=True, so no gradient reaches it; set "
            "stop_gradient=False before it is used"
        )
