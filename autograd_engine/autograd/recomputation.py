"""``autograd.recompute``: less memory for a second run of the function."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

from autograd_engine.core.locations import caller
from autograd_engine.eager.grad_mode import grad_mode
from autograd_engine.errors import ArgumentError, ArgumentTypeError
from autograd_engine.program import mode

__all__ = ["checkpoint", "recompute", "recompute_sequential"]


def recompute(
    function: Callable[..., Any],
    *args: Any,
    preserve_rng_state: bool = True,
    use_reentrant: bool = True,
    determinism_check: str = "default",
    **kwargs: Any,
) -> Any:
    """Call a function without keeping what its gradient needs; run it again when that is needed.

    Parameters
    ----------
    function : callable
        Does the same each time it is called with the same arguments.
    *args, **kwargs
        Handed to `function`: Tensors, also in lists, tuples and dicts, and anything else.
    preserve_rng_state : bool
        The second run draws the random numbers of the first. The state of the generator is not
        changed by it.
    use_reentrant : bool
        Accepted for programs that say it. There is one way of doing this.
    determinism_check : {"default", "none"}
        "none": do not compare the values that the second run computes with the first's.

    Returns
    -------
    What `function` returns.

    Raises
    ------
    RecomputeError
        From the backward pass, when the second run saves another number of values, other shapes or
        dtypes, or other elements (a sample of them is compared, up to rounding), or reads a tensor
        that has been given other values since.
    TypeError, ArgumentError

    Notes
    -----
    The first run keeps its arguments, and nothing else. When a backward pass first needs a value
    inside, `function` runs again, and each value goes as soon as it has been used; another pass
    over a retained graph runs it once more. Gradients have the bits that they have without.

    A chain of n layers in segments of about sqrt(n) needs the memory of 2 sqrt(n) of them, for one
    more forward pass. Segments may hold segments; the inner ones' arguments are then computed again
    too. It works under `paddle.grad`, to any order, with hooks on tensors and in forward mode.

    Arguments keep the values that they had, also when they are written to afterwards. A parameter
    that `function` finds elsewhere must not have changed before the backward pass: an optimizer's
    step in between is an error, not a wrong gradient. Effects of `function` on anything else, such
    as running statistics, hooks that it registers and what it prints, happen each time it runs. No
    hooks of `saved_tensors_hooks` around this call see what is inside, only the arguments.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> def block(x):
    ...     print("running")
    ...     return paddle.exp(paddle.sin(x))
    >>> x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    >>> y = paddle.autograd.recompute(block, x).sum()
    running
    >>> y.backward()
    running
    >>> x.grad.numpy().round(4)
    array([1.    , 1.2534], dtype=float32)
    """
    mode.require_dynamic("recompute")
    if not callable(function):
        raise ArgumentTypeError(f"recompute takes a function first, got {type(function).__name__}")
    for name, value in (
        ("preserve_rng_state", preserve_rng_state),
        ("use_reentrant", use_reentrant),
    ):
        if not isinstance(value, bool):
            raise ArgumentError(f"recompute: {name} must be True or False, got {value!r}")
    if not isinstance(determinism_check, str) or determinism_check not in ("default", "none"):
        raise ArgumentError(
            f"recompute: determinism_check must be 'default' or 'none', got {determinism_check!r}"
        )
    if not grad_mode.enabled:
        return function(*args, **kwargs)
    from autograd_engine.eager.recompute import Segment  # rarely asked for

    segment = Segment(
        function,
        args,
        kwargs,
        preserve_rng_state=preserve_rng_state,
        check_values=determinism_check == "default",
        location=caller(),
    )
    return segment.run(args, kwargs)


checkpoint = recompute


def _layers(functions: Any) -> list[Callable[..., Any]]:
    children = getattr(functions, "children", None)
    if callable(children):
        return list(children())
    layers = list(functions) if isinstance(functions, (list, tuple, Iterator)) else functions
    if isinstance(layers, list) and all(callable(layer) for layer in layers):
        return layers
    if isinstance(layers, list):
        k = [callable(layer) for layer in layers].index(False)
        got = f"{type(layers[k]).__name__} at [{k}]"
    else:
        got = type(functions).__name__
    raise ArgumentTypeError(
        f"recompute_sequential: functions must be a list of functions, got {got}"
    )


def recompute_sequential(
    ctx: Mapping[str, Any] | int | None,
    functions: Iterable[Callable[..., Any]],
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Apply functions one after the other, in segments that are computed again.

    Parameters
    ----------
    ctx : dict, int or None
        ``segments``, how many there are, by default the square root of the number of functions
        (an int says just this); ``preserve_rng_state``, see `recompute`.
    functions : iterable of callable
        Each takes what the one before returned, a tuple as several arguments.
    *args, **kwargs
        Of the first function.

    Returns
    -------
    What the last function returns. The last segment is not computed again: its values are needed
    at once.

    Examples
    --------
    >>> import autograd_engine as paddle
    >>> x = paddle.to_tensor([0.0, 1.0], stop_gradient=False)
    >>> y = paddle.autograd.recompute_sequential(2, [paddle.sin, paddle.exp, paddle.tanh], x)
    >>> y.sum().backward()
    >>> round(x.grad[0].item(), 4)
    0.42
    """
    if ctx is not None and not isinstance(ctx, (int, Mapping)):
        raise ArgumentTypeError(
            "recompute_sequential: ctx must be a number of segments or a dict, as "
            f"{{'segments': 2}}; got {type(ctx).__name__}"
        )
    options: dict[str, Any] = {"segments": ctx} if isinstance(ctx, int) else dict(ctx or {})
    layers = _layers(functions)
    segments = options.pop("segments", None)
    preserve = options.pop("preserve_rng_state", True)
    if options:
        raise ArgumentError(
            f"recompute_sequential: ctx takes segments and preserve_rng_state, got {list(options)}"
        )
    if not layers:
        raise ArgumentError("recompute_sequential: there are no functions; give one at least")
    if segments is None:
        segments = max(math.isqrt(len(layers)), 1)
    if not isinstance(segments, int) or isinstance(segments, bool) or segments < 1:
        raise ArgumentError(
            f"recompute_sequential: segments must be an int of 1 or more, got {segments!r}"
        )
    segments = min(segments, len(layers))
    bounds = [round(k * len(layers) / segments) for k in range(segments + 1)]
    parts = [layers[a:b] for a, b in pairwise(bounds) if a < b]
    for part in parts[:-1]:
        value = recompute(_chain(part), *args, preserve_rng_state=preserve, **kwargs)
        args, kwargs = value if isinstance(value, tuple) else (value,), {}
    return _chain(parts[-1])(*args, **kwargs)


def _chain(functions: list[Callable[..., Any]]) -> Callable[..., Any]:
    first, *rest = functions

    def chain(*args: Any, **kwargs: Any) -> Any:
        value = first(*args, **kwargs)
        for function in rest:
            value = function(*value) if isinstance(value, tuple) else function(value)
        return value

    return chain
