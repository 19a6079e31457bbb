"""`gradcheck` and `gradgradcheck`: gradients of any function against differences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from autograd_engine.eager.tensor import Tensor
from autograd_engine.errors import (
    ArgumentError,
    GradientCheckError,
    NotATensorError,
    ShapeError,
)
from autograd_engine.program import mode
from autograd_engine.testing.checker import Checker, default_tolerance
from autograd_engine.testing.problem import Problem, derived

__all__ = ["gradcheck", "gradgradcheck"]


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_forward_ad: bool = True,
    fast_mode: bool = False,
    order: int = 1,
) -> bool:
    """Check the gradients of a function against differences.

    Parameters
    ----------
    func : callable
        Takes `inputs` as arguments; returns a Tensor, or a list or tuple of them. It has to be
        deterministic.
    inputs : Tensor or sequence
        Those Tensors whose ``stop_gradient`` is False are checked, the others are handed on; best
        in float64. They are not changed.
    eps : float, optional
        The first step of the differences, which are extrapolated to a step of 0. By default about
        0.001, times the size of the element where that is above 1.
    atol, rtol : float, optional
        Gradients may be ``atol + rtol * |numeric|`` off; by default 1e-6 and 1e-5, for float32
        1e-3 and 1e-2.
    raise_exception : bool
        False: return False instead of raising GradientCheckError.
    nondet_tol : float
        How far two runs on the same inputs may be apart.
    check_undefined_grad : bool
        Also differentiate single outputs: the others have no cotangent then.
    check_forward_ad : bool
        Also check the forward mode, and that it is adjoint to the reverse mode.
    fast_mode : bool
        Compare one random projection of the Jacobian; all of it only where that fails.
    order : int
        Derivatives up to this order are checked.

    Returns
    -------
    bool
        True.

    Raises
    ------
    GradientCheckError
        An AssertionError that tells which elements of which input disagree, and what the pattern
        suggests.
    ArgumentError, NotATensorError, DTypeError
        Where there is nothing to check, or it is float16.

    Notes
    -----
    At a kink any number between the derivatives from the left and from the right is accepted.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.testing import gradcheck
    >>> x = paddle.to_tensor([1.0, 2.0], dtype="float64", stop_gradient=False)
    >>> gradcheck(lambda x: x * paddle.exp(x), x, order=2)
    True
    >>> gradcheck(lambda x: x * x.detach(), x)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    autograd_engine.errors.GradientCheckError: gradcheck: the gradient is not what differences give
      d the output / d x (input 0): 2 of 4 derivatives disagree:
        input at  output at  analytic  numeric  abs error  rel error
        [1]       [1]        2         4        2.0e+00    5.0e-01
        [0]       [0]        1         2        1.0e+00    5.0e-01
    likely cause: a factor 1/2: analytic is 1/2 times numeric everywhere...
    """
    mode.require_dynamic("gradcheck")
    if not isinstance(order, int) or order < 1:
        raise ArgumentError(f"gradcheck: order must be 1 or more, got {order!r}")
    problem = Problem(func, inputs)
    checker = Checker(
        eps,
        default_tolerance(problem, atol, rtol),
        nondet_tol,
        check_undefined_grad,
        check_forward_ad,
    )
    try:
        for k in range(order):
            problem = derived(problem) if k else problem
            checker.check(problem, fast=fast_mode)
    except GradientCheckError as error:
        if raise_exception:
            raise GradientCheckError(str(error), error.causes) from None
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor] | None = None,
    *,
    eps: float | None = None,
    atol: float | None = None,
    rtol: float | None = None,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_forward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Check second derivatives: the gradients of the gradients of a function.

    Parameters
    ----------
    grad_outputs : Tensor or sequence of Tensor, optional
        Cotangents of the outputs that are differentiated, random ones if not given. The gradients
        are differentiated with respect to them too, unless their ``stop_gradient`` is True.

    Returns
    -------
    bool
        True.

    Raises
    ------
    GradientCheckError

    See Also
    --------
    gradcheck : explains the other arguments.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> from autograd_engine.testing import gradgradcheck
    >>> x = paddle.to_tensor([1.0, 2.0], dtype="float64", stop_gradient=False)
    >>> gradgradcheck(paddle.tanh, x)
    True
    """
    mode.require_dynamic("gradgradcheck")
    first = Problem(func, inputs)
    problem = derived(first, _given_cotangents(first, grad_outputs))
    checker = Checker(
        eps,
        default_tolerance(first, atol, rtol),
        nondet_tol,
        check_undefined_grad,
        check_forward_ad,
    )
    try:
        checker.check(problem, fast=fast_mode)
    except GradientCheckError as error:
        if not raise_exception:
            return False
        try:
            checker.check(first, fast=True)
        except GradientCheckError as lower:
            raise GradientCheckError(
                f"gradgradcheck: the first order is wrong already\n{lower}", lower.causes
            ) from None
        raise GradientCheckError(str(error), error.causes) from None
    return True


def _given_cotangents(problem: Problem, given: Any) -> list[Tensor] | None:
    if given is None:
        return None
    values = list(given) if isinstance(given, (list, tuple)) else [given]
    if len(values) != len(problem.specs):
        raise ArgumentError(
            f"gradgradcheck: grad_outputs has {len(values)} entries for {len(problem.specs)} "
            "outputs that are differentiated; give one each"
        )
    for k, (u, (shape, _)) in enumerate(zip(values, problem.specs, strict=True)):
        if not isinstance(u, Tensor):
            raise NotATensorError(
                f"gradgradcheck: grad_outputs[{k}] must be a Tensor, got {type(u).__name__}: use "
                "paddle.to_tensor"
            )
        if u._data.shape != shape:
            raise ShapeError(
                f"gradgradcheck: grad_outputs[{k}] has shape {list(u._data.shape)}, the output "
                f"{list(shape)}; they must be equal"
            )
    return values
